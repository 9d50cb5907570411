/** Structured log: one line of JSON for each record. Redacts fields with names of secrets, and keys in texts. */
import { createObservation } from './observation.ts'

/** Levels in ascending order of severity. */
export const logLevels = ['debug', 'info', 'warn', 'error'] as const
export type LogLevel = (typeof logLevels)[number]
export type LogFields = Record<string, unknown>

export type LogRecord = LogFields & { time: string; level: LogLevel; message: string }

/** Records as they are written: redacted, and of the levels that are written. */
export const logWritten = createObservation<LogRecord>('log-written')

export interface Log {
  debug(message: string, fields?: LogFields): void
  info(message: string, fields?: LogFields): void
  warn(message: string, fields?: LogFields): void
  error(message: string, fields?: LogFields): void
}

const secretName = /(secrets?|passwords?|authorization|cookie|credentials?|(^|[_-])(token|keys?))$/i
/** Keys of this service, the text after `Bearer`, and `sk-…`, the form of most providers' keys. */
const inText =
  /stw_(key|env|claim|mcp|at|rt|code|dev)_[\w.-]+|(?<=\bbearer\s+)[\w.~+/=-]+|\bsk-[\w-]{8,}/gi
const deepest = 6

const isSecret = (name: string): boolean =>
  secretName.test(name.replace(/([a-z])([A-Z])/g, '$1_$2'))

function redact(name: string, value: unknown, depth = 0): unknown {
  if (value === null || value === undefined) return value
  if (isSecret(name)) return '[redacted]'
  if (typeof value === 'string') return value.replace(inText, '[redacted]')
  if (typeof value === 'bigint') return String(value)
  if (typeof value !== 'object') return value
  if (depth >= deepest) return '[deep]'
  if (value instanceof Date) return Number.isNaN(value.getTime()) ? null : value.toISOString()
  if (ArrayBuffer.isView(value)) return `[${value.byteLength} bytes]`
  if (value instanceof Error) return shownError(value, depth)
  if (Array.isArray(value)) return value.map((item) => redact('', item, depth + 1))
  return Object.fromEntries(
    Object.entries(value).map(([key, inner]) => [key, redact(key, inner, depth + 1)]),
  )
}

function shownError(error: Error & { code?: unknown }, depth: number): LogFields {
  return {
    name: error.name,
    message: redact('', error.message),
    code: error.code,
    stack: redact('', error.stack),
    cause: redact('cause', error.cause, depth + 1),
  }
}

export function jsonLog(write: (line: string) => void, least: LogLevel = 'info'): Log {
  const at =
    (level: LogLevel) =>
    (message: string, fields: LogFields = {}) => {
      if (logLevels.indexOf(level) < logLevels.indexOf(least)) return
      const own = { time: new Date().toISOString(), level, message: String(redact('', message)) }
      // Spread twice: the log's own fields come first, and win over fields with the same names.
      const record = { ...own, ...(redact('', fields) as LogFields), ...own }
      write(`${JSON.stringify(record)}\n`)
      logWritten.tell(record)
    }
  return { debug: at('debug'), info: at('info'), warn: at('warn'), error: at('error') }
}
