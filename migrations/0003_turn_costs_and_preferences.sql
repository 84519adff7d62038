-- Nothing was written to it before: preferences were memories with a mark.
DROP TABLE `user_preferences`;
--> statement-breakpoint
CREATE TABLE `user_preferences` (
	`id` text NOT NULL,
	`session_id` text NOT NULL,
	`user_id` text NOT NULL,
	`content` text NOT NULL,
	`metadata` text,
	`created_at` integer NOT NULL,
	PRIMARY KEY(`session_id`, `id`),
	FOREIGN KEY (`session_id`,`id`) REFERENCES `memories`(`session_id`,`id`) ON UPDATE no action ON DELETE cascade
);
--> statement-breakpoint
CREATE INDEX `user_preferences_user` ON `user_preferences` (`user_id`);
--> statement-breakpoint
INSERT INTO `user_preferences` (`id`, `session_id`, `user_id`, `content`, `metadata`, `created_at`)
SELECT `id`, `session_id`, `user_id`, `content`, `metadata`, `created_at` FROM `memories`
WHERE `preference` = 1 AND `user_id` IS NOT NULL ORDER BY `rowid`;
--> statement-breakpoint
ALTER TABLE `memories` DROP COLUMN `preference`;
--> statement-breakpoint
ALTER TABLE `sessions` DROP COLUMN `metadata`;
--> statement-breakpoint
ALTER TABLE `conversations` DROP COLUMN `metadata`;
--> statement-breakpoint
ALTER TABLE `conversations` ADD `prompt_tokens` integer;
--> statement-breakpoint
ALTER TABLE `conversations` ADD `kv_resident_tokens` integer;
--> statement-breakpoint
ALTER TABLE `conversations` ADD `evaluated_tokens` integer;
--> statement-breakpoint
ALTER TABLE `conversations` ADD `generated_tokens` integer;
--> statement-breakpoint
ALTER TABLE `conversations` ADD `positions` integer;
