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
	`name` text NOT NULL,
	`suite` text NOT NULL,
	`status` text NOT NULL,
	`seed` integer NOT NULL,
	`config` text,
	`environment` text,
	`model` text,
	`embedder` text,
	`dataset` text,
	`retriever` text,
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
CREATE TABLE `turns` (
	`id` integer PRIMARY KEY AUTOINCREMENT NOT NULL,
	`run_id` text NOT NULL,
	`item_id` text NOT NULL,
	`user_id` text NOT NULL,
	`arm` text NOT NULL,
	`repeat` integer NOT NULL,
	`turn` integer NOT NULL,
	`position` integer NOT NULL,
	`session_id` text NOT NULL,
	`prompt_info` text,
	`timings` text,
	`tokens` text,
	`scores` text,
	`memories` text,
	`kv` text,
	`answer` text NOT NULL,
	`error` text,
	`created_at` integer NOT NULL,
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
CREATE INDEX `user_preferences_user` ON `user_preferences` (`user_id`);