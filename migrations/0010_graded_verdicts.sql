-- Verdicts on points of an answer have three values.
ALTER TABLE `judge_verdicts` ADD COLUMN `value` real NOT NULL DEFAULT 0;--> statement-breakpoint
UPDATE `judge_verdicts` SET `value` = `right`;--> statement-breakpoint
ALTER TABLE `judge_verdicts` DROP COLUMN `right`;
