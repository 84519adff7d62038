-- One row per turn: the columns of `turn_list`, `measures` and `document` in place of a JSON column per part, and no copies.
-- `measures` and `document` are functions of `src/store/migrations.ts`, which make those columns from the old ones.
DROP TRIGGER `turns_listed`;
--> statement-breakpoint
DROP VIEW `turn_list_source`;
--> statement-breakpoint
DROP TABLE `packed_results`;
--> statement-breakpoint
DROP TABLE `turn_index_parts`;
--> statement-breakpoint
CREATE TABLE `new_turns` (
	`id` integer PRIMARY KEY AUTOINCREMENT NOT NULL,
	`run_id` text NOT NULL,
	`session_id` text NOT NULL,
	`state` text NOT NULL,
	`item_id` text NOT NULL,
	`user_id` text NOT NULL,
	`arm` text NOT NULL,
	`repeat` integer NOT NULL,
	`turn` integer NOT NULL,
	`position` integer NOT NULL,
	`created_at` integer NOT NULL,
	`category` text,
	`truncated` integer NOT NULL,
	`primary_value` real,
	`task_success` real,
	`exact_match` real,
	`token_f1` real,
	`memory_recall` real,
	`rouge_l` real,
	`bleu` real,
	`abstention` real,
	`gold_log_probability` real,
	`free_log_probability` real,
	`evidence_rank` integer,
	`first_token_ms` real,
	`total_ms` real,
	`prompt_tokens` integer,
	`kv_resident_tokens` integer,
	`evaluated_tokens` integer,
	`generated_tokens` integer,
	`wrong_class` text,
	`cache` text,
	`failed_stage` text,
	`failed_checks` text,
	`error` text,
	`question` text,
	`gold` text,
	`answer` text NOT NULL,
	`measures` text,
	`document` blob,
	FOREIGN KEY (`run_id`) REFERENCES `runs`(`id`) ON UPDATE no action ON DELETE cascade
);
--> statement-breakpoint
INSERT INTO `new_turns` (
	`id`, `run_id`, `session_id`, `state`, `item_id`, `user_id`, `arm`, `repeat`, `turn`, `position`, `created_at`,
	`category`, `truncated`, `primary_value`, `task_success`, `exact_match`, `token_f1`, `memory_recall`, `rouge_l`,
	`bleu`, `abstention`, `gold_log_probability`, `free_log_probability`, `evidence_rank`, `first_token_ms`, `total_ms`,
	`prompt_tokens`, `kv_resident_tokens`, `evaluated_tokens`, `generated_tokens`, `wrong_class`, `cache`,
	`failed_stage`, `failed_checks`, `error`, `question`, `gold`, `answer`, `measures`, `document`
)
SELECT
	`turns`.`id`, `turns`.`run_id`, `turns`.`session_id`, `turns`.`state`, `turns`.`item_id`, `turns`.`user_id`, `turns`.`arm`,
	`turns`.`repeat`, `turns`.`turn`, `turns`.`position`, `turns`.`created_at`, `turn_list`.`category`,
	`turn_list`.`truncated`, `turn_list`.`primary_value`, `turn_list`.`task_success`, `turn_list`.`exact_match`,
	`turn_list`.`token_f1`, `turn_list`.`memory_recall`, `turn_list`.`rouge_l`, `turn_list`.`bleu`,
	`turn_list`.`abstention`, `turn_list`.`gold_log_probability`, `turn_list`.`free_log_probability`,
	`turn_list`.`evidence_rank`, `turn_list`.`first_token_ms`, `turn_list`.`total_ms`, `turn_list`.`prompt_tokens`,
	`turn_list`.`kv_resident_tokens`, `turn_list`.`evaluated_tokens`, `turn_list`.`generated_tokens`,
	`turn_list`.`wrong_class`, `turn_list`.`cache`, `turn_list`.`failed_stage`, `turn_list`.`failed_checks`,
	`turn_list`.`error`, `turn_list`.`question`, `turn_list`.`gold`, `turn_list`.`answer`,
	measures(`turns`.`item`, `turns`.`facts`, `turns`.`account`, `turns`.`answer`, `turns`.`timings`, `turns`.`tokens`, `turns`.`scores`, `turns`.`observed`, `turns`.`error`, `turns`.`given`, `turns`.`prefill`, `turns`.`prompt`),
	document(`turns`.`item`, `turns`.`facts`, `turns`.`account`, `turns`.`answer`, `turns`.`timings`, `turns`.`tokens`, `turns`.`scores`, `turns`.`observed`, `turns`.`error`, `turns`.`given`, `turns`.`prefill`, `turns`.`prompt`)
FROM `turns` JOIN `turn_list` ON `turn_id` = `turns`.`id` ORDER BY `turns`.`id`;
--> statement-breakpoint
DROP TABLE `turn_list`;
--> statement-breakpoint
DROP TABLE `turns`;
--> statement-breakpoint
ALTER TABLE `new_turns` RENAME TO `turns`;
--> statement-breakpoint
CREATE UNIQUE INDEX `turns_identity` ON `turns` (`run_id`,`arm`,`item_id`,`repeat`,`turn`);
--> statement-breakpoint
CREATE INDEX `turns_run` ON `turns` (`run_id`);
--> statement-breakpoint
CREATE INDEX `turns_user` ON `turns` (`run_id`,`user_id`);
--> statement-breakpoint
CREATE INDEX `turns_item` ON `turns` (`run_id`,`item_id`,`task_success`);
--> statement-breakpoint
CREATE INDEX `turns_category` ON `turns` (`run_id`,`category`);
--> statement-breakpoint
CREATE INDEX `turns_failed_checks` ON `turns` (`run_id`,`failed_checks`) WHERE `failed_checks` IS NOT NULL;
--> statement-breakpoint
-- All columns by which lists filter and sort: such a query reads this index alone.
CREATE INDEX `turns_list` ON `turns` (
	`run_id`, `arm`, `item_id`, `task_success`, `category`, `wrong_class`, `failed_stage`, `cache`, `failed_checks`,
	`truncated`, `state`, `primary_value`, `exact_match`, `token_f1`, `memory_recall`, `rouge_l`, `bleu`, `abstention`,
	`gold_log_probability`, `free_log_probability`, `evidence_rank`, `first_token_ms`, `total_ms`, `prompt_tokens`,
	`kv_resident_tokens`, `evaluated_tokens`, `generated_tokens`
);
--> statement-breakpoint
-- A memory has one owner: the user, who is another in every run, or the session where no user is known.
CREATE TABLE `new_memories` (
	`owner` text NOT NULL,
	`id` text NOT NULL,
	`session_id` text NOT NULL,
	`user_id` text,
	`content` text NOT NULL,
	`embedding` blob,
	`metadata` text,
	`created_at` integer NOT NULL,
	PRIMARY KEY(`owner`, `id`),
	FOREIGN KEY (`session_id`) REFERENCES `sessions`(`id`) ON UPDATE no action ON DELETE cascade
);
--> statement-breakpoint
INSERT OR REPLACE INTO `new_memories` (`owner`, `id`, `session_id`, `user_id`, `content`, `embedding`, `metadata`, `created_at`)
SELECT
	CASE
		WHEN `memories`.`user_id` IS NULL THEN 'session ' || `session_id`
		WHEN `run_id` IS NULL THEN `memories`.`user_id`
		ELSE `run_id` || '/' || `memories`.`user_id`
	END,
	`memories`.`id`, `session_id`, `memories`.`user_id`, `content`, `embedding`, `memories`.`metadata`, `memories`.`created_at`
FROM `memories` JOIN `sessions` ON `sessions`.`id` = `session_id` ORDER BY `memories`.`rowid`;
--> statement-breakpoint
CREATE TABLE `new_user_preferences` (
	`owner` text NOT NULL,
	`id` text NOT NULL,
	`session_id` text NOT NULL,
	`user_id` text NOT NULL,
	`content` text NOT NULL,
	`metadata` text,
	`created_at` integer NOT NULL,
	PRIMARY KEY(`owner`, `id`),
	FOREIGN KEY (`owner`,`id`) REFERENCES `memories`(`owner`,`id`) ON UPDATE no action ON DELETE cascade
);
--> statement-breakpoint
INSERT OR REPLACE INTO `new_user_preferences` (`owner`, `id`, `session_id`, `user_id`, `content`, `metadata`, `created_at`)
SELECT `owner`, `id`, `session_id`, `old`.`user_id`, `old`.`content`, `old`.`metadata`, `old`.`created_at`
FROM `user_preferences` AS `old` JOIN `new_memories` USING (`session_id`, `id`) ORDER BY `old`.`rowid`;
--> statement-breakpoint
DROP TABLE `user_preferences`;
--> statement-breakpoint
DROP TABLE `memories`;
--> statement-breakpoint
ALTER TABLE `new_memories` RENAME TO `memories`;
--> statement-breakpoint
ALTER TABLE `new_user_preferences` RENAME TO `user_preferences`;
--> statement-breakpoint
CREATE INDEX `memories_session` ON `memories` (`session_id`);
--> statement-breakpoint
CREATE TABLE `tombstones` (
	`owner` text NOT NULL,
	`memory_id` text NOT NULL,
	`removed_at` integer NOT NULL,
	PRIMARY KEY(`owner`, `memory_id`)
);
