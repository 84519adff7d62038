CREATE TABLE `attributions` (
	`turn_id` integer PRIMARY KEY NOT NULL,
	`method` text NOT NULL,
	`log_probability` real NOT NULL,
	`memories` text NOT NULL,
	`model_ms` real NOT NULL,
	`created_at` integer NOT NULL,
	FOREIGN KEY (`turn_id`) REFERENCES `turns`(`id`) ON UPDATE no action ON DELETE cascade
);
--> statement-breakpoint
CREATE TABLE `audit_logs` (
	`id` text PRIMARY KEY NOT NULL,
	`action` text NOT NULL,
	`session_id` text,
	`memory_ids` text,
	`alpha` real,
	`mode` text,
	`metadata` text,
	`created_at` integer NOT NULL
);
--> statement-breakpoint
CREATE INDEX `audit_logs_session` ON `audit_logs` (`session_id`);--> statement-breakpoint
CREATE TABLE `conversations` (
	`id` text PRIMARY KEY NOT NULL,
	`session_id` text NOT NULL,
	`role` text NOT NULL,
	`content` text NOT NULL,
	`injection_mode` text,
	`injection_alpha` real,
	`memory_ids` text,
	`latency_ms` real,
	`metadata` text,
	`created_at` integer NOT NULL,
	FOREIGN KEY (`session_id`) REFERENCES `sessions`(`id`) ON UPDATE no action ON DELETE cascade
);
--> statement-breakpoint
CREATE INDEX `conversations_session` ON `conversations` (`session_id`);--> statement-breakpoint
CREATE TABLE `memories` (
	`id` text NOT NULL,
	`session_id` text NOT NULL,
	`user_id` text,
	`content` text NOT NULL,
	`embedding` blob,
	`preference` integer DEFAULT false NOT NULL,
	`metadata` text,
	`created_at` integer NOT NULL,
	PRIMARY KEY(`session_id`, `id`),
	FOREIGN KEY (`session_id`) REFERENCES `sessions`(`id`) ON UPDATE no action ON DELETE cascade
);
--> statement-breakpoint
CREATE INDEX `memories_user` ON `memories` (`user_id`);--> statement-breakpoint
CREATE TABLE `runs` (
	`id` text PRIMARY KEY NOT NULL,
	`schema_version` integer NOT NULL,
	`name` text NOT NULL,
	`suite` text NOT NULL,
	`status` text NOT NULL,
	`seed` integer NOT NULL,
	`plan` text NOT NULL,
	`environment` text NOT NULL,
	`model` text NOT NULL,
	`embedder` text NOT NULL,
	`dataset` text NOT NULL,
	`retriever` text NOT NULL,
	`probes` text,
	`results` text,
	`started_at` integer NOT NULL,
	`finished_at` integer
);
--> statement-breakpoint
CREATE UNIQUE INDEX `runs_name_unique` ON `runs` (`name`);--> statement-breakpoint
CREATE TABLE `sessions` (
	`id` text PRIMARY KEY NOT NULL,
	`user_id` text,
	`run_id` text,
	`metadata` text,
	`created_at` integer NOT NULL,
	FOREIGN KEY (`run_id`) REFERENCES `runs`(`id`) ON UPDATE no action ON DELETE cascade
);
--> statement-breakpoint
CREATE INDEX `sessions_run_user` ON `sessions` (`run_id`,`user_id`);--> statement-breakpoint
CREATE TABLE `token_pieces` (
	`model_sha256` text NOT NULL,
	`token_id` integer NOT NULL,
	`piece` text NOT NULL,
	PRIMARY KEY(`model_sha256`, `token_id`)
);
--> statement-breakpoint
CREATE TABLE `turn_list` (
	`turn_id` integer PRIMARY KEY NOT NULL,
	`run_id` text NOT NULL,
	`item_id` text NOT NULL,
	`user_id` text NOT NULL,
	`arm` text NOT NULL,
	`repeat` integer NOT NULL,
	`turn` integer NOT NULL,
	`category` text,
	`truncated` integer NOT NULL,
	`disagreeing` integer NOT NULL,
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
	`error` text,
	`question` text,
	`answer` text NOT NULL,
	FOREIGN KEY (`turn_id`) REFERENCES `turns`(`id`) ON UPDATE no action ON DELETE cascade
);
--> statement-breakpoint
CREATE INDEX `turn_list_run` ON `turn_list` (`run_id`);--> statement-breakpoint
CREATE INDEX `turn_list_run_item` ON `turn_list` (`run_id`,`item_id`,`task_success`);--> statement-breakpoint
CREATE INDEX `turn_list_run_arm` ON `turn_list` (`run_id`,`arm`,`item_id`,`task_success`);--> statement-breakpoint
CREATE INDEX `turn_list_run_category` ON `turn_list` (`run_id`,`category`);--> statement-breakpoint
CREATE TABLE `turns` (
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
	`item` text,
	`facts` text,
	`account` text,
	`answer` text,
	`timings` text,
	`tokens` text,
	`scores` text,
	`observed` text,
	`error` text,
	`given` text,
	`prefill` text,
	`prompt` text,
	FOREIGN KEY (`run_id`) REFERENCES `runs`(`id`) ON UPDATE no action ON DELETE cascade
);
--> statement-breakpoint
CREATE UNIQUE INDEX `turns_identity` ON `turns` (`run_id`,`arm`,`item_id`,`repeat`,`turn`);--> statement-breakpoint
CREATE INDEX `turns_run_item` ON `turns` (`run_id`,`item_id`);--> statement-breakpoint
CREATE INDEX `turns_run_user` ON `turns` (`run_id`,`user_id`);--> statement-breakpoint
CREATE TABLE `user_preferences` (
	`id` text PRIMARY KEY NOT NULL,
	`user_id` text NOT NULL,
	`content` text NOT NULL,
	`metadata` text,
	`created_at` integer NOT NULL
);
--> statement-breakpoint
CREATE INDEX `user_preferences_user` ON `user_preferences` (`user_id`);--> statement-breakpoint
CREATE VIEW `turn_list_source` AS
SELECT
	`id` AS `turn_id`, `run_id`, `item_id`, `user_id`, `arm`, `repeat`, `turn`,
	`item` ->> '$.category' AS `category`,
	coalesce(`facts` ->> '$.forced' OR `facts` ->> '$.droppedMemories' > 0 OR `facts` ->> '$.droppedHistory' > 0, 0) AS `truncated`,
	0 AS `disagreeing`,
	`scores` ->> '$.taskSuccess' AS `task_success`,
	`scores` ->> '$.exactMatch' AS `exact_match`,
	`scores` ->> '$.tokenF1' AS `token_f1`,
	`scores` ->> '$.memoryRecall' AS `memory_recall`,
	`scores` ->> '$.rougeL' AS `rouge_l`,
	`scores` ->> '$.bleu' AS `bleu`,
	`scores` ->> '$.abstention' AS `abstention`,
	`observed` ->> '$.goldLogProbability' AS `gold_log_probability`,
	`observed` ->> '$.freeLogProbability' AS `free_log_probability`,
	`scores` ->> '$.evidenceRank' AS `evidence_rank`,
	`timings` ->> '$.firstToken' AS `first_token_ms`,
	`timings` ->> '$.total' AS `total_ms`,
	`tokens` ->> '$.prompt' AS `prompt_tokens`,
	`tokens` ->> '$.kvResident' AS `kv_resident_tokens`,
	`tokens` ->> '$.evaluated' AS `evaluated_tokens`,
	`tokens` ->> '$.generated' AS `generated_tokens`,
	`scores` ->> '$.wrongClass' AS `wrong_class`,
	`error` ->> '$.message' AS `error`,
	`item` ->> '$.query' AS `question`,
	coalesce(`answer` ->> '$.text', '') AS `answer`
FROM `turns`;
--> statement-breakpoint
CREATE TRIGGER `turns_listed` AFTER INSERT ON `turns`
BEGIN
	INSERT INTO `turn_list` SELECT * FROM `turn_list_source` WHERE `turn_id` = NEW.`id`;
	UPDATE `turn_list` SET `disagreeing` = 1
	WHERE `run_id` = NEW.`run_id` AND `item_id` = NEW.`item_id` AND `disagreeing` = 0 AND EXISTS (
		SELECT 1 FROM `turn_list` AS `a` JOIN `turn_list` AS `b` USING (`run_id`, `item_id`)
		WHERE `a`.`run_id` = NEW.`run_id` AND `a`.`item_id` = NEW.`item_id` AND `a`.`task_success` < `b`.`task_success`
	);
END;
