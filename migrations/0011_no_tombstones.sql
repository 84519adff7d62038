-- Open systems see what others removed from the memories themselves.
DROP TABLE `tombstones`;
