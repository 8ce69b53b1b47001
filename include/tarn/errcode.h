/* SPDX-License-Identifier: BSD-2-Clause
 *
 * The error codes of the database: one table yields code, name and text. Codes,
 * names and texts are the reference's 2.6.0, since clients match on them; a code
 * that is added keeps its number for good.
 *
 * X(code, name, format of the text)
 */
#pragma once

#define TARN_ERROR_CODES(X) \
	X(0, ER_UNKNOWN, "Unknown error") \
	X(1, ER_ILLEGAL_PARAMS, "Illegal parameters, %s") \
	X(2, ER_MEMORY_ISSUE, "Failed to allocate %u bytes in %s for %s") \
	X(3, ER_TUPLE_FOUND, "Duplicate key exists in unique index '%s' in space '%s'") \
	X(4, ER_TUPLE_NOT_FOUND, "Tuple doesn't exist in index '%s' in space '%s'") \
	X(5, ER_UNSUPPORTED, "%s does not support %s") \
	X(6, ER_NONMASTER, "Can't modify data on a replication slave. My master is: %s") \
	X(7, ER_READONLY, "Can't modify data because this instance is in read-only mode.") \
	X(8, ER_INJECTION, "Error injection '%s'") \
	X(9, ER_CREATE_SPACE, "Failed to create space '%s': %s") \
	X(10, ER_SPACE_EXISTS, "Space '%s' already exists") \
	X(11, ER_DROP_SPACE, "Can't drop space '%s': %s") \
	X(12, ER_ALTER_SPACE, "Can't modify space '%s': %s") \
	X(13, ER_INDEX_TYPE, "Unsupported index type supplied for index '%s' in space '%s'") \
	X(14, ER_MODIFY_INDEX, "Can't create or modify index '%s' in space '%s': %s") \
	X(15, ER_LAST_DROP, "Can't drop the primary key in a system space, space '%s'") \
	X(16, ER_TUPLE_FORMAT_LIMIT, "Tuple format limit reached: %u") \
	X(17, ER_DROP_PRIMARY_KEY, \
	  "Can't drop primary key in space '%s' while secondary keys exist") \
	X(18, ER_KEY_PART_TYPE, \
	  "Supplied key type of part %u does not match index part type: expected %s") \
	X(19, ER_EXACT_MATCH, "Invalid key part count in an exact match (expected %u, got %u)") \
	X(20, ER_INVALID_MSGPACK, "Invalid MsgPack - %s") \
	X(21, ER_PROC_RET, "msgpack.encode: can not encode Lua type '%s'") \
	X(22, ER_TUPLE_NOT_ARRAY, "Tuple/Key must be MsgPack array") \
	X(23, ER_FIELD_TYPE, \
	  "Tuple field %s type does not match one required by operation: expected %s") \
	X(24, ER_INDEX_PART_TYPE_MISMATCH, \
	  "Field %s has type '%s' in one index, but type '%s' in another") \
	X(25, ER_UPDATE_SPLICE, "SPLICE error on field %s: %s") \
	X(26, ER_UPDATE_ARG_TYPE, \
	  "Argument type in operation '%c' on field %s does not match field type: " \
	  "expected %s") \
	X(27, ER_FORMAT_MISMATCH_INDEX_PART, \
	  "Field %s has type '%s' in space format, but type '%s' in index definition") \
	X(28, ER_UNKNOWN_UPDATE_OP, "Unknown UPDATE operation #%u: %s") \
	X(29, ER_UPDATE_FIELD, "Field %s UPDATE error: %s") \
	X(30, ER_FUNCTION_TX_ACTIVE, "Transaction is active at return from function") \
	X(31, ER_KEY_PART_COUNT, "Invalid key part count (expected [0..%u], got %u)") \
	X(32, ER_PROC_LUA, "%s") \
	X(33, ER_NO_SUCH_PROC, "Procedure '%s' is not defined") \
	X(34, ER_NO_SUCH_TRIGGER, "Trigger '%s' doesn't exist") \
	X(35, ER_NO_SUCH_INDEX_ID, "No index #%u is defined in space '%s'") \
	X(36, ER_NO_SUCH_SPACE, "Space '%s' does not exist") \
	X(37, ER_NO_SUCH_FIELD_NO, "Field %s was not found in the tuple") \
	X(38, ER_EXACT_FIELD_COUNT, "Tuple field count %u does not match space field count %u") \
	X(39, ER_FIELD_MISSING, "Tuple field %s required by space format is missing") \
	X(40, ER_WAL_IO, "Failed to write to disk") \
	X(41, ER_MORE_THAN_ONE_TUPLE, "Get() doesn't support partial keys and non-unique indexes") \
	X(42, ER_ACCESS_DENIED, "%s access to %s '%s' is denied for user '%s'") \
	X(43, ER_CREATE_USER, "Failed to create user '%s': %s") \
	X(44, ER_DROP_USER, "Failed to drop user or role '%s': %s") \
	X(45, ER_NO_SUCH_USER, "User '%s' is not found") \
	X(46, ER_USER_EXISTS, "User '%s' already exists") \
	X(47, ER_PASSWORD_MISMATCH, "Incorrect password supplied for user '%s'") \
	X(48, ER_UNKNOWN_REQUEST_TYPE, "Unknown request type %u") \
	X(49, ER_UNKNOWN_SCHEMA_OBJECT, "Unknown object type '%s'") \
	X(50, ER_CREATE_FUNCTION, "Failed to create function '%s': %s") \
	X(51, ER_NO_SUCH_FUNCTION, "Function '%s' does not exist") \
	X(52, ER_FUNCTION_EXISTS, "Function '%s' already exists") \
	X(53, ER_BEFORE_REPLACE_RET, \
	  "Invalid return value of space:before_replace trigger: expected tuple or nil, " \
	  "got %s") \
	X(54, ER_MULTISTATEMENT_TRANSACTION, \
	  "Can not perform %s in a multi-statement transaction") \
	X(55, ER_TRIGGER_EXISTS, "Trigger '%s' already exists") \
	X(56, ER_USER_MAX, "A limit on the total number of users has been reached: %u") \
	X(57, ER_NO_SUCH_ENGINE, "Space engine '%s' does not exist") \
	X(58, ER_RELOAD_CFG, "Can't set option '%s' dynamically") \
	X(59, ER_CFG, "Incorrect value for option '%s': %s") \
	X(60, ER_SAVEPOINT_EMPTY_TX, "Can not set a savepoint in an empty transaction") \
	X(61, ER_NO_SUCH_SAVEPOINT, "Can not rollback to savepoint: the savepoint does not exist") \
	X(62, ER_UNKNOWN_REPLICA, "Replica %s is not registered with replica set %s") \
	X(63, ER_REPLICASET_UUID_MISMATCH, "Replica set UUID mismatch: expected %s, got %s") \
	X(64, ER_INVALID_UUID, "Invalid UUID: %s") \
	X(65, ER_REPLICASET_UUID_IS_RO, "Can't reset replica set UUID: it is already assigned") \
	X(66, ER_INSTANCE_UUID_MISMATCH, "Instance UUID mismatch: expected %s, got %s") \
	X(68, ER_INVALID_ORDER, \
	  "Invalid LSN order for instance %u: previous LSN = %lld, new lsn = %lld") \
	X(69, ER_MISSING_REQUEST_FIELD, "Missing mandatory field '%s' in request") \
	X(70, ER_IDENTIFIER, \
	  "Invalid identifier '%s' (expected printable symbols only or it is too long)") \
	X(71, ER_DROP_FUNCTION, "Can't drop function %u: %s") \
	X(72, ER_ITERATOR_TYPE, "Unknown iterator type '%s'") \
	X(73, ER_REPLICA_MAX, "Replica count limit reached: %u") \
	X(74, ER_INVALID_XLOG, "Failed to read xlog: lsn: %lld") \
	X(75, ER_INVALID_XLOG_NAME, "Invalid xlog name: expected %lld got %lld") \
	X(76, ER_INVALID_XLOG_ORDER, "Invalid xlog order: %lld and %lld") \
	X(77, ER_NO_CONNECTION, "Connection is not established") \
	X(78, ER_TIMEOUT, "Timeout exceeded") \
	X(79, ER_ACTIVE_TRANSACTION, \
	  "Operation is not permitted when there is an active transaction ") \
	X(80, ER_CURSOR_NO_TRANSACTION, "The transaction the cursor belongs to has ended") \
	X(81, ER_CROSS_ENGINE_TRANSACTION, \
	  "A multi-statement transaction can not use multiple storage engines") \
	X(82, ER_NO_SUCH_ROLE, "Role '%s' is not found") \
	X(83, ER_ROLE_EXISTS, "Role '%s' already exists") \
	X(84, ER_CREATE_ROLE, "Failed to create role '%s': %s") \
	X(85, ER_INDEX_EXISTS, "Index '%s' already exists") \
	X(86, ER_SESSION_CLOSED, "Session is closed") \
	X(87, ER_ROLE_LOOP, "Granting role '%s' to role '%s' would create a loop") \
	X(88, ER_GRANT, "Incorrect grant arguments: %s") \
	X(89, ER_PRIV_GRANTED, "User '%s' already has %s access on %s%s") \
	X(90, ER_ROLE_GRANTED, "User '%s' already has role '%s'") \
	X(91, ER_PRIV_NOT_GRANTED, "User '%s' does not have %s access on %s '%s'") \
	X(92, ER_ROLE_NOT_GRANTED, "User '%s' does not have role '%s'") \
	X(93, ER_MISSING_SNAPSHOT, "Can't find snapshot") \
	X(94, ER_CANT_UPDATE_PRIMARY_KEY, \
	  "Attempt to modify a tuple field which is part of index '%s' in space '%s'") \
	X(95, ER_UPDATE_INTEGER_OVERFLOW, \
	  "Integer overflow when performing '%c' operation on field %s") \
	X(96, ER_GUEST_USER_PASSWORD, "Setting password for guest user has no effect") \
	X(97, ER_TRANSACTION_CONFLICT, "Transaction has been aborted by conflict") \
	X(98, ER_UNSUPPORTED_PRIV, "Unsupported %s privilege '%s'") \
	X(99, ER_LOAD_FUNCTION, "Failed to dynamically load function '%s': %s") \
	X(100, ER_FUNCTION_LANGUAGE, "Unsupported language '%s' specified for function '%s'") \
	X(101, ER_RTREE_RECT, \
	  "RTree: %s must be an array with %u (point) or %u (rectangle/box) numeric " \
	  "coordinates") \
	X(102, ER_PROC_C, "%s") \
	X(103, ER_UNKNOWN_RTREE_INDEX_DISTANCE_TYPE, "Unknown RTREE index distance type %s") \
	X(104, ER_PROTOCOL, "%s") \
	X(105, ER_UPSERT_UNIQUE_SECONDARY_KEY, \
	  "Space %s has a unique secondary index and does not support UPSERT") \
	X(106, ER_WRONG_INDEX_RECORD, "Wrong record in _index space: got {%s}, expected {%s}") \
	X(107, ER_WRONG_INDEX_PARTS, \
	  "Wrong index parts: %s; expected field1 id (number), field1 type (string), ...") \
	X(108, ER_WRONG_INDEX_OPTIONS, "Wrong index options (field %u): %s") \
	X(109, ER_WRONG_SCHEMA_VERSION, "Wrong schema version, current: %u, in request: %u") \
	X(110, ER_MEMTX_MAX_TUPLE_SIZE, \
	  "Failed to allocate %u bytes for tuple: tuple is too large. Check " \
	  "'memtx_max_tuple_size' configuration option.") \
	X(111, ER_WRONG_SPACE_OPTIONS, "Wrong space options (field %u): %s") \
	X(112, ER_UNSUPPORTED_INDEX_FEATURE, \
	  "Index '%s' (%s) of space '%s' (%s) does not support %s") \
	X(113, ER_VIEW_IS_RO, "View '%s' is read-only") \
	X(114, ER_NO_TRANSACTION, "No active transaction") \
	X(115, ER_SYSTEM, "%s") \
	X(116, ER_LOADING, "Instance bootstrap hasn't finished yet") \
	X(117, ER_CONNECTION_TO_SELF, "Connection to self") \
	X(118, ER_KEY_PART_IS_TOO_LONG, "Key part is too long: %u of %u bytes") \
	X(119, ER_COMPRESSION, "Compression error: %s") \
	X(120, ER_CHECKPOINT_IN_PROGRESS, "Snapshot is already in progress") \
	X(121, ER_SUB_STMT_MAX, "Can not execute a nested statement: nesting limit reached") \
	X(122, ER_COMMIT_IN_SUB_STMT, "Can not commit transaction in a nested statement") \
	X(123, ER_ROLLBACK_IN_SUB_STMT, "Rollback called in a nested statement") \
	X(124, ER_DECOMPRESSION, "Decompression error: %s") \
	X(125, ER_INVALID_XLOG_TYPE, "Invalid xlog type: expected %s, got %s") \
	X(126, ER_ALREADY_RUNNING, "Failed to lock WAL directory %s and hot_standby mode is off") \
	X(127, ER_INDEX_FIELD_COUNT_LIMIT, "Indexed field count limit reached: %u indexed fields") \
	X(128, ER_LOCAL_INSTANCE_ID_IS_READ_ONLY, "The local instance id %u is read-only") \
	X(129, ER_BACKUP_IN_PROGRESS, "Backup is already in progress") \
	X(130, ER_READ_VIEW_ABORTED, "The read view is aborted") \
	X(131, ER_INVALID_INDEX_FILE, "Invalid INDEX file %s: %s") \
	X(132, ER_INVALID_RUN_FILE, "Invalid RUN file: %s") \
	X(133, ER_INVALID_VYLOG_FILE, "Invalid VYLOG file: %s") \
	X(134, ER_CHECKPOINT_ROLLBACK, "Can't start a checkpoint while in cascading rollback") \
	X(135, ER_VY_QUOTA_TIMEOUT, "Timed out waiting for Vinyl memory quota") \
	X(136, ER_PARTIAL_KEY, \
	  "%s index  does not support selects via a partial key (expected %u parts, got " \
	  "%u). Please Consider changing index type to TREE.") \
	X(137, ER_TRUNCATE_SYSTEM_SPACE, "Can't truncate a system space, space '%s'") \
	X(138, ER_LOAD_MODULE, "Failed to dynamically load module '%s': %s") \
	X(139, ER_VINYL_MAX_TUPLE_SIZE, \
	  "Failed to allocate %u bytes for tuple: tuple is too large. Check " \
	  "'vinyl_max_tuple_size' configuration option.") \
	X(140, ER_WRONG_DD_VERSION, "Wrong _schema version: expected 'major.minor[.patch]'") \
	X(141, ER_WRONG_SPACE_FORMAT, "Wrong space format (field %u): %s") \
	X(142, ER_CREATE_SEQUENCE, "Failed to create sequence '%s': %s") \
	X(143, ER_ALTER_SEQUENCE, "Can't modify sequence '%s': %s") \
	X(144, ER_DROP_SEQUENCE, "Can't drop sequence '%s': %s") \
	X(145, ER_NO_SUCH_SEQUENCE, "Sequence '%s' does not exist") \
	X(146, ER_SEQUENCE_EXISTS, "Sequence '%s' already exists") \
	X(147, ER_SEQUENCE_OVERFLOW, "Sequence '%s' has overflowed") \
	X(148, ER_NO_SUCH_INDEX_NAME, "No index '%s' is defined in space '%s'") \
	X(149, ER_SPACE_FIELD_IS_DUPLICATE, "Space field '%s' is duplicate") \
	X(150, ER_CANT_CREATE_COLLATION, "Failed to initialize collation: %s.") \
	X(151, ER_WRONG_COLLATION_OPTIONS, "Wrong collation options (field %u): %s") \
	X(152, ER_NULLABLE_PRIMARY, "Primary index of space '%s' can not contain nullable parts") \
	X(153, ER_NO_SUCH_FIELD_NAME_IN_SPACE, "Field '%s' was not found in space '%s' format") \
	X(154, ER_TRANSACTION_YIELD, "Transaction has been aborted by a fiber yield") \
	X(155, ER_NO_SUCH_GROUP, "Replication group '%s' does not exist") \
	X(156, ER_SQL_BIND_VALUE, "Bind value for parameter %s is out of range for type %s") \
	X(157, ER_SQL_BIND_TYPE, "Bind value type %s for parameter %s is not supported") \
	X(158, ER_SQL_BIND_PARAMETER_MAX, "SQL bind parameter limit reached: %u") \
	X(159, ER_SQL_EXECUTE, "Failed to execute SQL statement: %s") \
	X(160, ER_UPDATE_DECIMAL_OVERFLOW, \
	  "Decimal overflow when performing operation '%c' on field %s") \
	X(161, ER_SQL_BIND_NOT_FOUND, "Parameter %s was not found in the statement") \
	X(162, ER_ACTION_MISMATCH, \
	  "Field %s contains %s on conflict action, but %s in index parts") \
	X(163, ER_VIEW_MISSING_SQL, "Space declared as a view must have SQL statement") \
	X(164, ER_FOREIGN_KEY_CONSTRAINT, \
	  "Can not commit transaction: deferred foreign keys violations are not resolved") \
	X(165, ER_NO_SUCH_MODULE, "Module '%s' does not exist") \
	X(166, ER_NO_SUCH_COLLATION, "Collation '%s' does not exist") \
	X(167, ER_CREATE_FK_CONSTRAINT, "Failed to create foreign key constraint '%s': %s") \
	X(168, ER_DROP_FK_CONSTRAINT, "Failed to drop foreign key constraint '%s': %s") \
	X(169, ER_NO_SUCH_CONSTRAINT, "Constraint '%s' does not exist in space '%s'") \
	X(170, ER_CONSTRAINT_EXISTS, "%s constraint '%s' already exists in space '%s'") \
	X(171, ER_SQL_TYPE_MISMATCH, "Type mismatch: can not convert %s to %s") \
	X(172, ER_ROWID_OVERFLOW, "Rowid is overflowed: too many entries in ephemeral space") \
	X(173, ER_DROP_COLLATION, "Can't drop collation %s : %s") \
	X(174, ER_ILLEGAL_COLLATION_MIX, "Illegal mix of collations") \
	X(175, ER_SQL_NO_SUCH_PRAGMA, "Pragma '%s' does not exist") \
	X(176, ER_SQL_CANT_RESOLVE_FIELD, "Can’t resolve field '%s'") \
	X(177, ER_INDEX_EXISTS_IN_SPACE, "Index '%s' already exists in space '%s'") \
	X(178, ER_INCONSISTENT_TYPES, "Inconsistent types: expected %s got %s") \
	X(179, ER_SQL_SYNTAX_WITH_POS, "Syntax error at line %u at or near position %u: %s") \
	X(180, ER_SQL_STACK_OVERFLOW, "Failed to parse SQL statement: parser stack limit reached") \
	X(181, ER_SQL_SELECT_WILDCARD, \
	  "Failed to expand '*' in SELECT statement without FROM clause") \
	X(182, ER_SQL_STATEMENT_EMPTY, "Failed to execute an empty SQL statement") \
	X(184, ER_SQL_SYNTAX_NEAR_TOKEN, "Syntax error at line %u near '%s'") \
	X(185, ER_SQL_UNKNOWN_TOKEN, "Syntax error: unrecognized token: '%s'") \
	X(186, ER_SQL_PARSER_GENERIC, "%s") \
	X(187, ER_SQL_ANALYZE_ARGUMENT, "ANALYZE statement argument %s is not a base table") \
	X(188, ER_SQL_COLUMN_COUNT_MAX, \
	  "Failed to create space '%s': space column count %u exceeds the limit (%u)") \
	X(189, ER_HEX_LITERAL_MAX, "Hex literal %s%s length %u exceeds the supported limit (%u)") \
	X(190, ER_INT_LITERAL_MAX, \
	  "Integer literal %s%s exceeds the supported range [-9223372036854775808, " \
	  "18446744073709551615]") \
	X(191, ER_SQL_PARSER_LIMIT, "%s %u exceeds the limit (%u)") \
	X(192, ER_INDEX_DEF_UNSUPPORTED, "%s are prohibited in an index definition") \
	X(193, ER_CK_DEF_UNSUPPORTED, "%s are prohibited in a ck constraint definition") \
	X(194, ER_MULTIKEY_INDEX_MISMATCH, \
	  "Field %s is used as multikey in one index and as single key in another") \
	X(195, ER_CREATE_CK_CONSTRAINT, "Failed to create check constraint '%s': %s") \
	X(196, ER_CK_CONSTRAINT_FAILED, "Check constraint failed '%s': %s") \
	X(197, ER_SQL_COLUMN_COUNT, \
	  "Unequal number of entries in row expression: left side has %u, but right " \
	  "side - %u") \
	X(198, ER_FUNC_INDEX_FUNC, \
	  "Failed to build a key for functional index '%s' of space '%s': %s") \
	X(199, ER_FUNC_INDEX_FORMAT, \
	  "Key format doesn't match one defined in functional index '%s' of space '%s': %s") \
	X(200, ER_FUNC_INDEX_PARTS, "Wrong functional index definition: %s") \
	X(201, ER_NO_SUCH_FIELD_NAME, "Field '%s' was not found in the tuple") \
	X(202, ER_FUNC_WRONG_ARG_COUNT, \
	  "Wrong number of arguments is passed to %s(): expected %s, got %u") \
	X(203, ER_BOOTSTRAP_READONLY, "Trying to bootstrap a local read-only instance as master") \
	X(204, ER_SQL_FUNC_WRONG_RET_COUNT, \
	  "SQL expects exactly one argument returned from %s, got %u") \
	X(205, ER_FUNC_INVALID_RETURN_TYPE, \
	  "Function '%s' returned value of invalid type: expected %s got %s") \
	X(206, ER_SQL_PARSER_GENERIC_WITH_POS, "At line %u at or near position %u: %s") \
	X(207, ER_REPLICA_NOT_ANON, "Replica '%s' is not anonymous and cannot register.") \
	X(208, ER_CANNOT_REGISTER, "Couldn't find an instance to register this replica on.") \
	X(209, ER_SESSION_SETTING_INVALID_VALUE, "Session setting %s expected a value of type %s") \
	X(210, ER_SQL_PREPARE, "Failed to prepare SQL statement: %s") \
	X(211, ER_WRONG_QUERY_ID, "Prepared statement with id %u does not exist") \
	X(212, ER_SEQUENCE_NOT_STARTED, "Sequence '%s' is not started") \
	X(213, ER_NO_SUCH_SESSION_SETTING, "Session setting %s doesn't exist") \
	X(214, ER_UNCOMMITTED_FOREIGN_SYNC_TXNS, \
	  "Found uncommitted sync transactions from other instance with id %u") \
	X(215, ER_SYNC_MASTER_MISMATCH, \
	  "CONFIRM message arrived for an unknown master id %u, expected %u") \
	X(216, ER_SYNC_QUORUM_TIMEOUT, \
	  "Quorum collection for a synchronous transaction is timed out") \
	X(217, ER_SYNC_ROLLBACK, "A rollback for a synchronous transaction is received") \
	X(218, ER_TUPLE_METADATA_IS_TOO_BIG, "Can't create tuple: metadata size %u is too big") \
	/* Of 2.11. */ \
	X(229, ER_UNABLE_TO_PROCESS_IN_STREAM, "Unable to process %s request in stream") \
	X(230, ER_UNABLE_TO_PROCESS_OUT_OF_STREAM, "Unable to process %s request out of stream") \
	X(231, ER_TRANSACTION_TIMEOUT, "Transaction has been aborted by timeout") \
	X(232, ER_ACTIVE_TIMER, "Operation is not permitted if timer is already running") \
	X(233, ER_TUPLE_FIELD_COUNT_LIMIT, \
	  "Tuple field count limit reached: see box.schema.FIELD_MAX") \
	X(234, ER_CREATE_CONSTRAINT, "Failed to create constraint '%s' in space '%s': %s") \
	X(235, ER_FIELD_CONSTRAINT_FAILED, "Check constraint '%s' failed for field '%s'") \
	X(236, ER_TUPLE_CONSTRAINT_FAILED, "Check constraint '%s' failed for tuple") \
	X(237, ER_CREATE_FOREIGN_KEY, "Failed to create foreign key '%s' in space '%s': %s") \
	X(238, ER_FOREIGN_KEY_INTEGRITY, "Foreign key '%s' integrity check failed: %s") \
	X(239, ER_FIELD_FOREIGN_KEY_FAILED, \
	  "Foreign key constraint '%s' failed for field '%s': %s") \
	X(240, ER_COMPLEX_FOREIGN_KEY_FAILED, "Foreign key constraint '%s' failed: %s") \
	X(247, ER_ITERATOR_POSITION, "Iterator position is invalid") \
	X(248, ER_DEFAULT_VALUE_TYPE, \
	  "Type of the default value does not match tuple field %s type: expected %s, got %s") \
	/* Of 3.0. */ \
	X(275, ER_CREATE_DEFAULT_FUNC, "Failed to create field default function '%s': %s") \
	X(276, ER_DEFAULT_FUNC_FAILED, "Error calling field default function '%s': %s")

enum box_error_code {
#define X(code, name, format) name = code,
	TARN_ERROR_CODES(X)
#undef X
	box_error_code_MAX
};
