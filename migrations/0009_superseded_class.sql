-- The class of answers with a superseded value has that name.
UPDATE `turns` SET
	`wrong_class` = 'superseded',
	`measures` = json_set(`measures`, '$.scores.wrongClass', 'superseded')
WHERE `wrong_class` = 'stale';
