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
	`recall_rank` integer,
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
CREATE VIEW `turn_list_source` AS
SELECT
	`id` AS `turn_id`, `run_id`, `item_id`, `user_id`, `arm`, `repeat`, `turn`,
	`scores` ->> '$.item.category' AS `category`,
	coalesce(
		`scores` ->> '$.prompt.forced' OR `scores` ->> '$.prompt.droppedMemories' > 0 OR `scores` ->> '$.prompt.droppedHistory' > 0, 0
	) AS `truncated`,
	0 AS `disagreeing`,
	`scores` ->> '$.taskSuccess' AS `task_success`,
	`scores` ->> '$.exactMatch' AS `exact_match`,
	`scores` ->> '$.tokenF1' AS `token_f1`,
	`scores` ->> '$.memoryRecall' AS `memory_recall`,
	`scores` ->> '$.rougeL' AS `rouge_l`,
	`scores` ->> '$.bleu' AS `bleu`,
	`scores` ->> '$.abstention' AS `abstention`,
	`scores` ->> '$.evidence.goldLogProbability' AS `gold_log_probability`,
	`scores` ->> '$.evidence.freeLogProbability' AS `free_log_probability`,
	`scores` ->> '$.recallRank' AS `recall_rank`,
	`timings` ->> '$.firstToken' AS `first_token_ms`,
	`timings` ->> '$.total' AS `total_ms`,
	`tokens` ->> '$.prompt' AS `prompt_tokens`,
	`tokens` ->> '$.kvResident' AS `kv_resident_tokens`,
	`tokens` ->> '$.evaluated' AS `evaluated_tokens`,
	`tokens` ->> '$.generated' AS `generated_tokens`,
	`scores` ->> '$.wrongClass' AS `wrong_class`,
	`error`,
	`prompt_info` ->> '$.originalQuery' AS `question`,
	`answer`
FROM `turns`;
--> statement-breakpoint
INSERT INTO `turn_list` SELECT * FROM `turn_list_source`;
--> statement-breakpoint
UPDATE `turn_list` SET `disagreeing` = 1
WHERE EXISTS (
	SELECT 1 FROM `turn_list` AS `other`
	WHERE `other`.`run_id` = `turn_list`.`run_id` AND `other`.`item_id` = `turn_list`.`item_id`
		AND `other`.`task_success` <> `turn_list`.`task_success`
);
--> statement-breakpoint
UPDATE `turn_list` SET `disagreeing` = 1
WHERE `task_success` IS NULL AND EXISTS (
	SELECT 1 FROM `turn_list` AS `other`
	WHERE `other`.`run_id` = `turn_list`.`run_id` AND `other`.`item_id` = `turn_list`.`item_id` AND `other`.`disagreeing` = 1
);
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
