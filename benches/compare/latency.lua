-- Printed after a run: percentiles in microseconds, and the share of answers within 25 ms, in percent.
done = function(summary, latency)
  -- The percentile of 100 is none: that is the maximum.
  local within = latency.max <= 25000 and 100 or 99.9
  while within < 100 and within > 0 and latency:percentile(within) > 25000 do within = within - 0.1 end
  io.write(string.format("FIGURES %.0f %.0f %.0f %.0f %.1f\n", latency:percentile(50), latency:percentile(90),
    latency:percentile(95), latency:percentile(99), within))
end
