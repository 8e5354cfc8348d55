/**
 * Fails the run at the first warning of Node that means a leak: a timer beyond 32 bits, which rings each millisecond, or listeners that
 * no code removes. Vitest reports the error beside the tests, with the file that ran.
 */
const LEAKS = ["TimeoutOverflowWarning", "MaxListenersExceededWarning"]

const failAtLeak = (warning: Error): void => {
  if (!LEAKS.includes(warning.name)) return
  process.off("warning", failAtLeak)
  throw new Error(`a leak: ${warning.name}: ${warning.message}`, { cause: warning })
}

// A worker loads this file anew for each test file, and keeps its process.
if (!process.listeners("warning").some(({ name }) => name === failAtLeak.name)) process.on("warning", failAtLeak)
