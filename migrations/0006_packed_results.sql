CREATE TABLE `packed_results` (
	`run_id` text NOT NULL,
	`user_id` text NOT NULL,
	`layout` text NOT NULL,
	`turns` integer NOT NULL,
	`values` text NOT NULL,
	`places` blob NOT NULL,
	`numbers` blob NOT NULL,
	PRIMARY KEY(`run_id`, `user_id`),
	FOREIGN KEY (`run_id`) REFERENCES `runs`(`id`) ON UPDATE no action ON DELETE cascade
);
--> statement-breakpoint
-- A copy that may be out of date is no copy: it is made again when results are asked for.
CREATE TRIGGER `packed_results_after_insert` AFTER INSERT ON `turns` BEGIN
	DELETE FROM `packed_results` WHERE `run_id` = NEW.`run_id` AND `user_id` = NEW.`user_id`;
END;
--> statement-breakpoint
CREATE TRIGGER `packed_results_after_update` AFTER UPDATE ON `turns` BEGIN
	DELETE FROM `packed_results` WHERE `run_id` IN (OLD.`run_id`, NEW.`run_id`) AND `user_id` IN (OLD.`user_id`, NEW.`user_id`);
END;
--> statement-breakpoint
CREATE TRIGGER `packed_results_after_delete` AFTER DELETE ON `turns` BEGIN
	DELETE FROM `packed_results` WHERE `run_id` = OLD.`run_id` AND `user_id` = OLD.`user_id`;
END;
