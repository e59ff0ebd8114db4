-- 1 KB of JSON there and 1 KB back.
local folder = debug.getinfo(1, "S").source:sub(2):match("(.*/)")
wrk.method = "POST"
wrk.body = io.open(folder .. "request.json"):read("*a")
wrk.headers["Content-Type"] = "application/json"
dofile(folder .. "latency.lua")
