CREATE TABLE `run_users` (
	`run_id` text NOT NULL,
	`user_id` text NOT NULL,
	`position` integer NOT NULL,
	`worker` text NOT NULL,
	`finished_at` integer,
	`share` text,
	PRIMARY KEY(`run_id`, `user_id`),
	FOREIGN KEY (`run_id`) REFERENCES `runs`(`id`) ON UPDATE no action ON DELETE cascade
);
