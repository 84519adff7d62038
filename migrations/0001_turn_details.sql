CREATE TABLE `influences` (
	`turn_id` integer PRIMARY KEY NOT NULL,
	`method` text NOT NULL,
	`log_probability` real NOT NULL,
	`memories` text NOT NULL,
	`model_ms` real NOT NULL,
	`created_at` integer NOT NULL,
	FOREIGN KEY (`turn_id`) REFERENCES `turns`(`id`) ON UPDATE no action ON DELETE cascade
);
--> statement-breakpoint
CREATE TABLE `token_pieces` (
	`model_sha256` text NOT NULL,
	`token_id` integer NOT NULL,
	`piece` text NOT NULL,
	PRIMARY KEY(`model_sha256`, `token_id`)
);
