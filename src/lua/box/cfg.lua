-- SPDX-License-Identifier: BSD-2-Clause
-- box.cfg: a function until its first call has started the instance, then a table of
-- the options that can be called to change some. And `box` itself: before that call
-- most of it is not there, and says so.
local c = require('tarn.cfg')
local c_txn = require('tarn.txn')
local c_user = require('tarn.user')
local guest = require('tarn.box.guest')
local listen = require('tarn.box.listen')
local space = require('tarn.box.space')
local sequence = require('tarn.box.sequence')
local options = require('tarn.box.cfg_options')
local cfg_env = require('tarn.box.cfg_env')
local ctl = require('tarn.box.ctl')
local events = require('tarn.box.events')
local api = require('tarn.box.api')
local log_cfg = require('internal.log_cfg')
local title = require('title')
local json = require('json')
local box = require('box')

local function no_decrease(name)
    return function(new, old)
        if new < old then
            options.wrong(name, 'cannot decrease memory size at runtime')
        end
    end
end

local function nothing()
end

-- Of txn_timeout: from so many seconds on it is none.
local NO_TIMEOUT = 365 * 100 * 86400

-- The configuration as box.cfg shows it.
local current = {}

-- Settings of logging in that are applied together.
local auth_options = {'auth_type', 'auth_delay', 'auth_retries', 'password_lifetime_days',
                      'disable_guest'}

local function set_auth(all)
    c_user.set_auth(all.auth_type or 'chap-sha1', all.auth_delay or 0, all.auth_retries or 0,
                    all.password_lifetime_days or 0, all.disable_guest or false)
end

local function auth_setter(name)
    return function(value)
        local all = {}
        for _, option in ipairs(auth_options) do
            all[option] = current[option]
        end
        all[name] = value
        set_auth(all)
    end
end

-- What a change of an option at run time does; where there is nothing to do, it says
-- for whom it is kept. An option that is not here cannot be changed.
local dynamic = {
    listen = function(uris)
        c.set_listen(uris ~= nil and listen.parse(uris) or nil)
        guest.check()
    end,
    log_level = function(level) log_cfg.set('level', level) end,
    log_format = function(format) log_cfg.set('format', format) end,
    log_modules = function(modules) log_cfg.set('modules', modules) end,
    read_only = function(value)
        c.set_read_only(value)
        ctl.read_only_changed()
        events.status('running')
    end,
    memtx_memory = function(new, old)
        no_decrease('memtx_memory')(new, old)
        c.set_memtx_memory(new)
    end,
    lua_memory = function(value) c.set_lua_memory(value or 0) end,
    memtx_max_tuple_size = c.set_memtx_max_tuple_size,
    checkpoint_count = c.set_checkpoint_count,
    checkpoint_interval = c.set_checkpoint_interval,
    net_msg_max = c.set_net_msg_max,
    readahead = c.set_readahead,
    io_busy_poll = c.set_io_busy_poll,
    io_collect_interval = function(value) c.set_io_collect_interval(value or 0) end,
    custom_proc_title = function(value) title.update(value or '') end,
    vinyl_memory = no_decrease('vinyl_memory'),
    txn_timeout = function(value)
        c_txn.set_default_timeout(value ~= nil and value < NO_TIMEOUT and value or 0)
    end,
    wal_queue_max_size = function(value)
        c.set_wal_queue_max_size(value or 16 * 1024 * 1024)
    end,
    too_long_threshold = c.set_too_long_threshold,
    snap_io_rate_limit = function(value) c.set_snap_io_rate_limit(value or 0) end,
    wal_cleanup_delay = function(value) c.set_wal_cleanup_delay(value or 0) end,
    checkpoint_wal_threshold = c.set_checkpoint_wal_threshold,
    -- Read where they are used, or of parts that are not here: only kept.
    txn_isolation = nothing, force_recovery = nothing, sql_cache_size = nothing,
    feedback_enabled = nothing, feedback_host = nothing, feedback_interval = nothing,
    vinyl_cache = nothing, vinyl_timeout = nothing, vinyl_max_tuple_size = nothing,
    worker_pool_threads = nothing, wal_dir_rescan_delay = nothing,
    replication = nothing, replication_anon = nothing, replication_timeout = nothing,
    replication_connect_timeout = nothing, replication_connect_quorum = nothing,
    replication_sync_lag = nothing, replication_sync_timeout = nothing,
    replication_skip_conflict = nothing, replication_synchro_quorum = nothing,
    replication_synchro_timeout = nothing,
    -- Read by password.lua.
    password_enforce_digits = nothing, password_enforce_lowercase = nothing,
    password_enforce_specialchars = nothing, password_enforce_uppercase = nothing,
    password_history_length = nothing, password_min_length = nothing,
}
for _, name in ipairs(auth_options) do
    dynamic[name] = auth_setter(name)
end

local function same(a, b)
    if type(a) == 'table' and type(b) == 'table' then
        return table.equals(a, b)
    end
    return a == b
end

local function show(value)
    if type(value) == 'string' then
        return ('%q'):format(value)
    elseif type(value) == 'table' then
        return json.encode(value)
    end
    return value == nil and 'null' or tostring(value)
end

local function check_dynamic(new)
    for name, value in pairs(new) do
        if dynamic[name] == nil and not same(current[name], value) then
            if name == 'log' or name == 'log_nonblock' then
                options.wrong(name, "can't be set dynamically")
            end
            box.error(box.error.RELOAD_CFG, name)
        end
    end
end

-- box.NULL becomes nil.
local function plain(value)
    if value == nil then
        return nil
    end
    return value
end

local function merged(new)
    local all = {}
    for name, value in pairs(current) do
        all[name] = value
    end
    for name, value in pairs(new) do
        all[name] = plain(value)
    end
    return all
end

local function reload(_, given)
    local new = options.prepare(given or {})
    check_dynamic(new)
    options.check(new, merged(new))
    for name, value in pairs(new) do
        local old = current[name]
        if not same(old, value) and not (old == nil and value == nil) then
            dynamic[name](plain(value), old)
            rawset(current, name, plain(value))
            c.say(5, ("set '%s' configuration option to %s"):format(name, show(value)))
        end
    end
end

-- What log.cfg sets, too: option -> its name there.
local log_options = {
    log = 'log', log_nonblock = 'nonblock', log_level = 'level', log_format = 'format',
    log_modules = 'modules',
}

-- What was passed, and what the environment adds; log.cfg{} goes before the environment.
local function given_options(given)
    local new = options.prepare(given or {})
    for name, value in pairs(options.prepare(cfg_env.read())) do
        if type(new[name]) == 'nil' and not (log_options[name] and log_cfg.is_open()) then
            new[name] = value
        end
    end
    return new
end

local function first_configuration(given)
    local new = given_options(given)
    local all = {}
    for name, option in pairs(options.options) do
        all[name] = option[2]
    end
    for option, name in pairs(log_options) do
        all[option] = log_cfg.current[name]
    end
    for name, value in pairs(new) do
        if value ~= nil then
            all[name] = value
        end
    end
    options.check(all, all)
    return all
end

-- Before the first box.cfg{} ------------------------------------------------

setmetatable(box, {
    __index = function()
        error('Please call box.cfg{} first', 0)
    end,
})

local function publish()
    setmetatable(box, nil)
    for name, value in pairs(api) do
        box[name] = value
    end
    current = setmetatable(current, {
        __call = reload,
        __newindex = function()
            error('Attempt to modify a read-only table', 2)
        end,
    })
    box.cfg = current
end

local function tell_options()
    for name, value in pairs(current) do
        local default = options.options[name][2]
        if not same(value, default) or name == 'log_level' or name == 'log_format' then
            c.say(5, ("set '%s' configuration option to %s"):format(name, show(value)))
        end
    end
end

-- What the start itself does not set.
local function set_others(all)
    c.set_io_busy_poll(all.io_busy_poll)
    for _, name in ipairs{'txn_timeout', 'wal_queue_max_size', 'too_long_threshold',
                          'checkpoint_wal_threshold', 'snap_io_rate_limit',
                          'wal_cleanup_delay', 'io_collect_interval',
                          'custom_proc_title'} do
        if all[name] ~= nil then
            dynamic[name](all[name])
        end
    end
end

-- Opens the log, unless log.cfg has; the process ends where that fails.
local function start_log(all)
    log_cfg.set('format', all.log_format)
    log_cfg.set('level', all.log_level)
    log_cfg.set('modules', all.log_modules)
    if not log_cfg.is_open() then
        local ok, err = pcall(log_cfg.open, all.log, all.log_nonblock)
        if not ok then
            c.fail(('%s %s\nfailed to initialize logging subsystem'):format(err.type, err.message))
        end
    end
    log_cfg.listen(function(name, value)
        for option, name_there in pairs(log_options) do
            if name_there == name then
                rawset(current, option, value)
            end
        end
    end)
end

local is_starting = false

function box.cfg(given)
    if is_starting then
        error('box.cfg{} is at work already', 2)
    end
    local all = first_configuration(given)
    if all.lua_memory ~= nil then
        c.set_lua_memory(all.lua_memory)
    end
    c.setup_process(all)
    start_log(all)
    c.setup_pid_file(all)
    is_starting = true
    c.say(3, 'tarn ' .. require('tarn.info').version())
    c.say(3, 'log level ' .. tostring(log_cfg.levels[all.log_level] or all.log_level))
    title.update({status = 'loading'})
    set_others(all)
    set_auth(all)
    -- box.space is needed while the data is loaded: triggers and procedures see it.
    c.start(all, all.listen ~= nil and listen.parse(all.listen) or nil)
    title.update({status = 'running'})
    ctl.started()
    events.started()
    current = all
    publish()
    space.follow_all()
    sequence.follow_all()
    tell_options()
    guest.check()
end

api.snapshot = c.snapshot

-- Files that belong together stay until the backup has been stopped.
api.backup = {
    start = function(back)
        if back ~= nil and type(back) ~= 'number' then
            error(("bad argument #1 to '?' (number expected, got %s)"):format(type(back)), 0)
        end
        return {c.backup_start(back)}
    end,
    stop = c.backup_stop,
}
