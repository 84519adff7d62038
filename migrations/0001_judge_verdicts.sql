CREATE TABLE `judge_verdicts` (
	`key` text PRIMARY KEY NOT NULL,
	`right` integer NOT NULL,
	`created_at` integer NOT NULL
);
