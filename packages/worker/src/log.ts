/** One line of JSON each, without our keys and tokens, wherever in the text they stand. */
export type WorkerLog = (message: string, fields?: Record<string, unknown>) => void

const ours = /stw_(key|env|claim|mcp)_[\w.-]+/g

export const jsonLog =
  (write: (line: string) => void): WorkerLog =>
  (message, fields = {}) => {
    const record = { time: new Date().toISOString(), message, ...fields }
    write(`${JSON.stringify(record).replaceAll(ours, '[redacted]')}\n`)
  }
