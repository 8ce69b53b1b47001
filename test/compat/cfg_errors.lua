-- SPDX-License-Identifier: BSD-2-Clause
-- box.cfg refuses what it does not know, wrong types and wrong values, and stays unconfigured.
local check = require('check')
check [[
box.cfg{nonsense = 1}
box.cfg{listn = 3301}
box.cfg{memtx_memory = 'lots'}
box.cfg{memtx_memory = {}}
box.cfg{work_dir = 5}
box.cfg{wal_mode = 5}
box.cfg{wal_mode = 'sometimes'}
box.cfg{log_level = {}}
box.cfg{read_only = 'yes'}
box.cfg{checkpoint_count = 'x'}
box.cfg{checkpoint_count = 0}
box.cfg{checkpoint_interval = 'x'}
box.cfg{too_long_threshold = 'x'}
box.cfg{snap_io_rate_limit = 'x'}
box.cfg{io_collect_interval = 'x'}
box.cfg{readahead = 'x'}
box.cfg{wal_max_size = 'x'}
box.cfg{wal_dir_rescan_delay = 'x'}
box.cfg{force_recovery = 'x'}
box.cfg{replication_timeout = 'x'}
box.cfg{replication_connect_quorum = 'x'}
box.cfg{instance_uuid = 'not a uuid'}
box.cfg{replicaset_uuid = 5}
box.cfg{custom_proc_title = 5}
box.cfg{pid_file = 5}
box.cfg{background = 'x'}
box.cfg{username = 5}
box.cfg{hot_standby = 'x'}
box.cfg{feedback_enabled = 'x'}
box.cfg{net_msg_max = 'x'}
box.cfg{memtx_min_tuple_size = 'x'}
box.cfg{memtx_min_tuple_size = 5}
box.cfg{memtx_max_tuple_size = 'x'}
box.cfg{slab_alloc_factor = 'x'}
box.cfg{strip_core = 'x'}
box.cfg{coredump = 5}
box.cfg{log_format = 'nonsense'}
box.cfg{log_format = 5}
box.cfg{log_nonblock = 5}
box.cfg{vinyl_memory = 'x'}
box.cfg{vinyl_dir = 5}
box.cfg{vinyl_page_size = 'x'}
box.cfg{sql_cache_size = 'x'}
box.cfg{worker_pool_threads = 'x'}
type(box.cfg)
box.space
box.info
box.snapshot
box.begin
box.schema
]]
check.finish()
