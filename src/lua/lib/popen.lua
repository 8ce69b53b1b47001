-- SPDX-License-Identifier: BSD-2-Clause
--
-- The module `popen`: child processes. Manual: module popen. Starting one, waiting, reading and
-- writing yield.
local C = require('internal.popen')

local FOREVER = 365 * 86400
local STREAMS = {'stdin', 'stdout', 'stderr'}

local opts = {INHERIT = 'inherit', DEVNULL = 'devnull', CLOSE = 'close', PIPE = 'pipe'}
local state = {ALIVE = 'alive', EXITED = 'exited', SIGNALED = 'signaled'}
local stream = {OPEN = 'open', CLOSED = 'closed'}

-- Of Linux; signal(7).
local signal = {
    SIGHUP = 1, SIGINT = 2, SIGQUIT = 3, SIGILL = 4, SIGTRAP = 5, SIGABRT = 6, SIGIOT = 6,
    SIGBUS = 7, SIGFPE = 8, SIGKILL = 9, SIGUSR1 = 10, SIGSEGV = 11, SIGUSR2 = 12, SIGPIPE = 13,
    SIGALRM = 14, SIGTERM = 15, SIGSTKFLT = 16, SIGCHLD = 17, SIGCONT = 18, SIGSTOP = 19,
    SIGTSTP = 20, SIGTTIN = 21, SIGTTOU = 22, SIGURG = 23, SIGXCPU = 24, SIGXFSZ = 25,
    SIGVTALRM = 26, SIGPROF = 27, SIGWINCH = 28, SIGIO = 29, SIGPOLL = 29, SIGPWR = 30,
    SIGSYS = 31,
}
local OTHER_NAMES = {SIGIOT = true, SIGPOLL = true} -- of signals that have a usual one
local name_of_signal = {}
for name, number in pairs(signal) do
    if not OTHER_NAMES[name] then
        name_of_signal[number] = name
    end
end

local IS_ACTION = {}
for _, action in pairs(opts) do
    IS_ACTION[action] = true
end

-- Handles -------------------------------------------------------------------

local handle_mt = {}
local methods = {}
local details = setmetatable({}, {__mode = 'k'}) -- handle -> {child, command, options}

local USAGE = {
    read = 'ph:read([{stdout = <boolean>, stderr = <boolean>, timeout = <number>}])',
    write = 'ph:write(str[, {timeout = <number>}])',
    shutdown = 'ph:shutdown({stdin = <boolean>, stdout = <boolean>, stderr = <boolean>})',
    terminate = 'ph:terminate()', kill = 'ph:kill()', signal = 'ph:signal(signo)',
    info = 'ph:info()', wait = 'ph:wait()', close = 'ph:close()',
}

local function bad_params(method)
    C.refuse('Bad params, use: ' .. USAGE[method])
end

local function detail_of(handle, method)
    return details[handle] or bad_params(method)
end

local function check_open(detail)
    if detail.child == nil then
        C.refuse('popen: attempt to operate on a closed handle')
    end
end

local function status_of(detail)
    local now, number = C.status(detail.child)
    local status = {state = now}
    if now == 'exited' then
        status.exit_code = number
    elseif now == 'signaled' then
        status.signo, status.signame = number, name_of_signal[number] or 'unknown'
    end
    return status
end

local function info_of(detail)
    local pid, stdin, stdout, stderr = C.state(detail.child)
    local info = {pid = pid, command = detail.command, opts = {}, status = status_of(detail)}
    for name, value in pairs(detail.options) do
        info.opts[name] = value
    end
    for name, is_open in pairs({stdin = stdin, stdout = stdout, stderr = stderr}) do
        if detail.options[name] == 'pipe' then
            info[name] = is_open and 'open' or 'closed'
        end
    end
    return info
end

function handle_mt.__index(handle, name)
    if methods[name] ~= nil then
        return methods[name]
    end
    local detail = details[handle]
    if detail.child == nil then
        error('Attempt to index a closed popen handle', 2)
    end
    return info_of(detail)[name]
end

function handle_mt.__newindex()
    error('a popen handle has no fields to set', 2)
end

function handle_mt.__serialize(handle)
    local detail = details[handle]
    return detail.child ~= nil and info_of(detail) or '<closed popen handle>'
end

function handle_mt.__tostring(handle)
    local detail = details[handle]
    return detail.child ~= nil and ('popen: %s'):format(detail.command) or 'popen: <closed>'
end

local function boolean_of(options, name, method)
    local value = options[name]
    if value ~= nil and type(value) ~= 'boolean' then
        bad_params(method)
    end
    return value
end

local function timeout_of(options, method)
    local timeout = options.timeout
    if timeout ~= nil and (type(timeout) ~= 'number' or timeout < 0 or timeout ~= timeout) then
        bad_params(method)
    end
    return math.min(timeout or FOREVER, FOREVER)
end

local function options_of(options, method)
    if options ~= nil and type(options) ~= 'table' then
        bad_params(method)
    end
    return options or {}
end

local function check_pipe(detail, name)
    if detail.options[name] ~= 'pipe' then
        C.refuse('popen: handle does not support the requested IO operation')
    end
end

function methods.read(handle, options)
    local detail = detail_of(handle, 'read')
    check_open(detail)
    options = options_of(options, 'read')
    local stdout = boolean_of(options, 'stdout', 'read')
    local stderr = boolean_of(options, 'stderr', 'read')
    local timeout = timeout_of(options, 'read')
    if stdout and stderr then
        C.refuse('popen: reading from both stdout and stderr at one call is not supported')
    end
    check_pipe(detail, stderr and 'stderr' or 'stdout')
    return C.read(detail.child, stderr and 2 or 1, timeout)
end

function methods.write(handle, text, options)
    local detail = detail_of(handle, 'write')
    if type(text) ~= 'string' then
        bad_params('write')
    end
    local timeout = timeout_of(options_of(options, 'write'), 'write')
    check_open(detail)
    check_pipe(detail, 'stdin')
    return C.write(detail.child, text, timeout)
end

function methods.shutdown(handle, options)
    local detail = detail_of(handle, 'shutdown')
    check_open(detail)
    options = options_of(options, 'shutdown')
    local chosen = {}
    for i, name in ipairs(STREAMS) do
        if boolean_of(options, name, 'shutdown') then
            chosen[#chosen + 1] = i
        end
    end
    if #chosen == 0 then
        C.refuse('popen: neither stdin, stdout nor stderr is set')
    end
    for _, i in ipairs(chosen) do
        check_pipe(detail, STREAMS[i])
    end
    for _, i in ipairs(chosen) do
        C.close_stream(detail.child, i - 1)
    end
    return true
end

function methods.signal(handle, number)
    local detail = detail_of(handle, 'signal')
    if type(number) ~= 'number' then
        bad_params('signal')
    end
    check_open(detail)
    return C.signal(detail.child, number)
end

function methods.terminate(handle)
    local detail = detail_of(handle, 'terminate')
    check_open(detail)
    return C.signal(detail.child, signal.SIGTERM)
end

function methods.kill(handle)
    local detail = detail_of(handle, 'kill')
    check_open(detail)
    return C.signal(detail.child, signal.SIGKILL)
end

function methods.info(handle)
    local detail = detail_of(handle, 'info')
    check_open(detail)
    return info_of(detail)
end

function methods.wait(handle)
    local detail = detail_of(handle, 'wait')
    check_open(detail)
    C.wait(detail.child)
    check_open(detail)
    return status_of(detail)
end

function methods.close(handle)
    local detail = detail_of(handle, 'close')
    if detail.child ~= nil then
        C.close(detail.child)
        detail.child = nil
    end
    return true
end

-- Starting ------------------------------------------------------------------

local FLAGS = {
    shell = false, setsid = false, close_fds = true, restore_signals = true,
    group_signal = false, keep_child = false,
}

local function wrong(func, name, expected, got)
    C.refuse(('popen.%s: wrong parameter "%s": expected %s, got %s'):format(func, name, expected, got))
end

local function type_name(...)
    return select('#', ...) == 0 and 'no value' or type((...))
end

local function check_options(given)
    local options = {}
    for _, name in ipairs(STREAMS) do
        local action = given[name]
        if action ~= nil and type(action) ~= 'string' then
            wrong('new', 'opts.' .. name, 'string or nil', type(action))
        elseif action ~= nil and not IS_ACTION[action] then
            wrong('new', 'opts.' .. name, 'popen.opts.<...> constant', action)
        end
        options[name] = action or 'inherit'
    end
    for name, default in pairs(FLAGS) do
        local value = given[name]
        if value ~= nil and type(value) ~= 'boolean' then
            wrong('new', 'opts.' .. name, 'boolean or nil', type(value))
        end
        options[name] = value == nil and default or value or false
    end
    if options.group_signal and not options.setsid then
        C.refuse('popen: group signal without setting sid')
    end
    return options
end

-- The program would get what is before it.
local function has_zero(text)
    return text:find('\0', 1, true) ~= nil
end

-- {A = '1'} -> {'A=1'}
local function environment_of(env)
    if env == nil then
        return nil
    elseif type(env) ~= 'table' then
        wrong('new', 'opts.env', 'table or nil', type(env))
    end
    local list = {}
    for name, value in pairs(env) do
        if type(name) ~= 'string' or type(value) ~= 'string' then
            wrong('new', 'opts.env', '{[<string>] = <string>, ...}', 'a non-string key or value')
        elseif has_zero(name) or has_zero(value) then
            wrong('new', 'opts.env', 'text without zero bytes', 'a zero byte')
        end
        list[#list + 1] = name .. '=' .. value
    end
    return list
end

-- As it is shown: all but the program in quotes, where it goes on after spaces.
local function command_of(argv, is_shell)
    local words = is_shell and {'sh', '-c'} or {}
    for _, word in ipairs(argv) do
        local is_plain = not word:find('[%s]') or (not is_shell and #words == 0)
        words[#words + 1] = is_plain and not (is_shell and #words == 2) and word or
                            "'" .. word .. "'"
    end
    return table.concat(words, ' ')
end

local function start(argv, env, options)
    local words = options.shell and {'/bin/sh', '-c'} or {}
    for _, word in ipairs(argv) do
        words[#words + 1] = word
    end
    local child, err = C.spawn(words, env, options)
    if child == nil then
        return nil, err
    end
    local handle = newproxy(true)
    local mt = getmetatable(handle)
    for name, value in pairs(handle_mt) do
        mt[name] = value
    end
    details[handle] = {child = child, command = command_of(argv, options.shell), options = options}
    return handle
end

local popen = {opts = opts, signal = signal, state = state, stream = stream}

function popen.new(...)
    local argv, given = ...
    if type(argv) ~= 'table' then
        wrong('new', 'argv', 'table', type_name(...))
    elseif given ~= nil and type(given) ~= 'table' then
        wrong('new', 'opts', 'table or nil', type(given))
    end
    for i, word in ipairs(argv) do
        if type(word) ~= 'string' then
            wrong('new', ('argv[%d]'):format(i), 'string', type(word))
        elseif has_zero(word) then
            wrong('new', ('argv[%d]'):format(i), 'text without zero bytes', 'a zero byte')
        end
    end
    given = given or {}
    local options = check_options(given)
    return start(argv, environment_of(given.env), options)
end

function popen.shell(...)
    local command, mode = ...
    if type(command) ~= 'string' then
        wrong('shell', 'command', 'string', type_name(...))
    elseif mode ~= nil and type(mode) ~= 'string' then
        wrong('shell', 'mode', 'string or nil', type(mode))
    elseif mode ~= nil and mode:find('[^rwR]') then
        wrong('shell', 'mode', "'r', 'w', 'R' or its combination", mode)
    end
    mode = mode or ''
    return popen.new({command}, {
        shell = true, setsid = true, group_signal = true,
        stdin = mode:find('w') and 'pipe' or 'inherit',
        stdout = mode:find('r') and 'pipe' or 'inherit',
        stderr = mode:find('R') and 'pipe' or 'inherit',
    })
end

return popen
