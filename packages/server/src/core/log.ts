/** Structured records, one line of JSON each; what a field's name says is secret never gets out. */

export type Level = 'debug' | 'info' | 'warn' | 'error'
export type Fields = Record<string, unknown>

export interface Log {
  debug(message: string, fields?: Fields): void
  info(message: string, fields?: Fields): void
  warn(message: string, fields?: Fields): void
  error(message: string, fields?: Fields): void
}

const secretName = /(secret|password|authorization|cookie|credential|(^|[_-])(token|key|keys))$/i
const bareToken = /stw_(key|env|claim)_[\w-]+/g
const levels: Level[] = ['debug', 'info', 'warn', 'error']

export function redact(name: string, value: unknown, depth = 0): unknown {
  if (secretName.test(name) && value !== null && value !== undefined) return '[redacted]'
  if (typeof value === 'string') return value.replace(bareToken, '[redacted]')
  if (value instanceof Error) {
    const cause =
      value.cause === undefined || depth > 3 ? undefined : redact('cause', value.cause, depth + 1)
    return {
      name: value.name,
      message: redact('', value.message),
      stack: redact('', value.stack),
      cause,
    }
  }
  if (typeof value !== 'object' || value === null) return value
  if (depth > 5) return '[deep]'
  if (Array.isArray(value)) return value.map((item) => redact('', item, depth + 1))
  return Object.fromEntries(
    Object.entries(value).map(([key, inner]) => [key, redact(key, inner, depth + 1)]),
  )
}

export function jsonLog(write: (line: string) => void, least: Level = 'info'): Log {
  const at =
    (level: Level) =>
    (message: string, fields: Fields = {}) => {
      if (levels.indexOf(level) < levels.indexOf(least)) return
      const shown = redact('', fields) as Fields
      write(
        `${JSON.stringify({ time: new Date().toISOString(), level, message: redact('', message), ...shown })}\n`,
      )
    }
  return { debug: at('debug'), info: at('info'), warn: at('warn'), error: at('error') }
}
