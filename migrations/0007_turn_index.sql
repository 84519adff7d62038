CREATE TABLE `turn_index_parts` (
	`run_id` text NOT NULL,
	`name` text NOT NULL,
	`data` blob NOT NULL,
	PRIMARY KEY(`run_id`, `name`),
	FOREIGN KEY (`run_id`) REFERENCES `runs`(`id`) ON UPDATE no action ON DELETE cascade
);
--> statement-breakpoint
-- As with packed results: a copy that may be out of date is no copy.
CREATE TRIGGER `turn_index_after_insert` AFTER INSERT ON `turn_list` BEGIN
	DELETE FROM `turn_index_parts` WHERE `run_id` = NEW.`run_id`;
END;
--> statement-breakpoint
CREATE TRIGGER `turn_index_after_update` AFTER UPDATE ON `turn_list` BEGIN
	DELETE FROM `turn_index_parts` WHERE `run_id` IN (OLD.`run_id`, NEW.`run_id`);
END;
--> statement-breakpoint
CREATE TRIGGER `turn_index_after_delete` AFTER DELETE ON `turn_list` BEGIN
	DELETE FROM `turn_index_parts` WHERE `run_id` = OLD.`run_id`;
END;
