-- SPDX-License-Identifier: BSD-2-Clause
--
-- Additions to the library `debug`: where the running code comes from.

-- The file of the function at a level of the stack: 1 is this one, 2, unless given, its
-- caller. nil where it is from no file.
function debug.sourcefile(level)
    local info = debug.getinfo(level or 2, 'S')
    if info == nil then
        return nil
    end
    return info.source:match('^@(.*)')
end

-- Its directory, '.' where there is none.
function debug.sourcedir(level)
    local file = debug.sourcefile((level or 2) + 1)
    return file and file:match('^(.*)/[^/]*$') or '.'
end

-- debug.__file__ and debug.__dir__ are those of the code that reads them.
setmetatable(debug, {
    __index = function(_, name)
        if name == '__file__' then
            return (debug.sourcefile(3))
        elseif name == '__dir__' then
            return (debug.sourcedir(3))
        end
    end
})
