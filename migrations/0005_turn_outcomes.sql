ALTER TABLE `turn_list` ADD `gold` text;
--> statement-breakpoint
ALTER TABLE `turn_list` ADD `cache` text;
--> statement-breakpoint
ALTER TABLE `turn_list` ADD `failed_stage` text;
--> statement-breakpoint
ALTER TABLE `turn_list` ADD `failed_checks` text;
--> statement-breakpoint
DROP VIEW `turn_list_source`;
--> statement-breakpoint
CREATE VIEW `turn_list_source` AS
SELECT
	`turns`.`id` AS `turn_id`, `run_id`, `item_id`, `user_id`, `arm`, `repeat`, `turn`,
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
	coalesce(`answer` ->> '$.text', '') AS `answer`,
	-- A metric's value stands under its name in the scores, those of the calling program apart, or in what was observed; that
	-- of the gold a token is made of its sum.
	CASE `metric`
		WHEN 'goldLogProb' THEN CASE
			WHEN `item` ->> '$.gold' IS NOT NULL AND json_array_length(`observed`, '$.goldTokens') > 0
			THEN 1.0 * (`observed` ->> '$.goldLogProbability') / json_array_length(`observed`, '$.goldTokens')
		END
		ELSE coalesce(`scores` -> '$.own' ->> `metric`, `scores` ->> `metric`, `observed` ->> `metric`)
	END AS `primary_value`,
	`item` ->> '$.gold' AS `gold`,
	`account` ->> '$.cache' AS `cache`,
	`scores` ->> '$.failedStage' AS `failed_stage`,
	-- What src/eval/analysis/checks finds of one turn by itself; turns that are held against another arm's are not in it.
	nullif(substr(
		iif(`error` IS NOT NULL, ',errors', '') ||
		iif(`observed` ->> '$.firstForeignToken' IS NOT NULL AND NOT `account` ->> '$.sharesPositions'
			AND coalesce(`prefill` ->> '$.making.sink.kept', 0) = 0, ',token identity', '') ||
		iif(abs((`tokens` ->> '$.evaluated') - (`account` ->> '$.evaluated')) >= coalesce(`account` ->> '$.found.blockTokens', 1),
			iif(`account` ->> '$.found' IS NULL, ',token accounting', ',reuse'), '') ||
		iif(`observed` ->> '$.wrongCells' IS NOT NULL, ',cells', '') ||
		iif(iif(`bitwise`, `observed` ->> '$.parity.bitwiseEqual' = 0, `observed` ->> '$.parity.largestDifference' > 2 * `noise`),
			',numerical parity', '') ||
		iif(`observed` ->> '$.answer.asGenerated' = 0 OR `observed` ->> '$.answer.shortfall' > 2 * `noise`
			OR `bitwise` AND `observed` ->> '$.sameAgain' = 0, ',answers', '') ||
		iif(json_array_length(`observed`, '$.memories.foreign') + json_array_length(`observed`, '$.memories.altered')
			+ json_array_length(`observed`, '$.memories.missing') + json_array_length(`observed`, '$.memories.hidden')
			+ json_array_length(`observed`, '$.memories.elsewhere') > 0, ',same memories', ''),
	2), '') AS `failed_checks`
FROM `turns` JOIN (
	SELECT
		`id` AS `measured_run`,
		coalesce(`dataset` ->> '$.primaryMetric', 'exactMatch') AS `metric`,
		`probes` ->> '$.parity.bitwiseEqual' AS `bitwise`,
		`probes` ->> '$.parity.largestDifference' AS `noise`
	FROM `runs`
) ON `measured_run` = `run_id`;
--> statement-breakpoint
UPDATE `turn_list` SET
	`gold` = `source`.`gold`, `cache` = `source`.`cache`, `failed_stage` = `source`.`failed_stage`,
	`failed_checks` = `source`.`failed_checks`
FROM `turn_list_source` AS `source` WHERE `source`.`turn_id` = `turn_list`.`turn_id`;
