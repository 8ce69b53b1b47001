-- SPDX-License-Identifier: BSD-2-Clause
-- box.cfg: defaults, changes while running, and what may not change.
local check = require('check')
box.cfg{log_level = 4, checkpoint_count = 3}
check [[
type(box.cfg), box.cfg.log_level, box.cfg.checkpoint_count
box.cfg{}
box.cfg()
box.cfg{log_level = 5}
box.cfg.log_level
box.cfg{log_level = 'warn'}
box.cfg.log_level
box.cfg{nonsense = 1}
box.cfg{log_level = {}}
box.cfg.log_level
box.cfg{memtx_memory = 1}
box.cfg{memtx_memory = box.cfg.memtx_memory * 2}
box.cfg{memtx_memory = box.cfg.memtx_memory}
box.cfg{wal_mode = 'none'}
box.cfg{wal_mode = 'write'}
box.cfg{wal_dir = '/tmp'}
box.cfg{memtx_dir = '/tmp'}
box.cfg{vinyl_dir = '/tmp'}
box.cfg{work_dir = '/tmp'}
box.cfg{wal_max_size = 1}
box.cfg{background = true}
box.cfg{pid_file = 'x'}
box.cfg{log = 'x'}
box.cfg{log_nonblock = true}
box.cfg{force_recovery = true}
box.cfg.force_recovery
box.cfg{force_recovery = false}
box.cfg{instance_uuid = '12345678-1234-1234-1234-123456789012'}
box.cfg{instance_uuid = 'x'}
box.cfg{memtx_min_tuple_size = 32}
box.cfg{memtx_max_tuple_size = 2097152}
box.cfg{slab_alloc_factor = 1.5}
box.cfg{username = 'x'}
box.cfg{hot_standby = true}
box.cfg{checkpoint_count = 0}
box.cfg{checkpoint_count = 5, checkpoint_interval = 0}
box.cfg.checkpoint_count, box.cfg.checkpoint_interval
box.cfg{read_only = true}
box.info.ro, box.info.status
box.schema.space.create('x')
box.cfg{read_only = false}
box.schema.space.create('x').name
box.cfg{too_long_threshold = 1.5, readahead = 32768, io_collect_interval = 0.001}
box.cfg.too_long_threshold, box.cfg.readahead, box.cfg.io_collect_interval
box.cfg{io_collect_interval = 0}
box.cfg{net_msg_max = 1}
box.cfg{net_msg_max = 100}
box.cfg{custom_proc_title = 'proc'}
box.cfg{snap_io_rate_limit = 10}
box.cfg{listen = 'not/a:port:at all'}
box.cfg{log_format = 'json'}
box.cfg{log_format = 'plain'}
box.cfg{log_format = 'bad'}
box.cfg.log_format
box.cfg.log_level = 7
box.cfg.log_level
box.cfg{feedback_enabled = false}
]]
check.finish()
