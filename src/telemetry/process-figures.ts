import { type Family, gauge } from "./metrics-text.ts";

const MICROS = 1_000_000;

/** Of this process, under the names that Prometheus clients give them. */
export function processFigures(): readonly Family[] {
  const { user, system } = process.cpuUsage();
  const { rss, heapUsed } = process.memoryUsage();
  const started = Date.now() / 1_000 - process.uptime();
  const busy = performance.eventLoopUtilization().utilization;
  return [
    {
      name: "process_cpu_seconds_total",
      help: "Processor time, in seconds.",
      type: "counter",
      samples: () => [{ labels: {}, value: (user + system) / MICROS }],
    },
    gauge("process_resident_memory_bytes", "Memory that is held, in bytes.", () => rss),
    gauge("process_start_time_seconds", "When the process began, in seconds since 1970.", () => started),
    gauge("nodejs_heap_size_used_bytes", "JavaScript objects, in bytes.", () => heapUsed),
    gauge("nodejs_eventloop_utilization", "Share of its time that the event loop was at work.", () => busy),
  ];
}
