import { env } from 'node:process'

const logLevels = ['ANTHROPIC_LOG', 'OPENAI_LOG']
/** The vendors' clients read variables with these prefixes in their constructors. */
const vendors = /^(?:ANTHROPIC|OPENAI|GEMINI|GOOGLE)_/

/**
 * Runs `construct` without the vendors' environment variables. `construct` must create its clients before its first
 * await, because the variables are restored when this function returns.
 */
export function withoutAmbient<T>(construct: () => T): T {
  const hidden: [string, string][] = []
  for (const name of Object.keys(env)) {
    if (!vendors.test(name)) continue
    const value = env[name] ?? ''
    hidden.push([name, value])
    delete env[name]
  }
  // The clients would log providers' answers to the console.
  for (const name of logLevels) env[name] = 'off'
  try {
    return construct()
  } finally {
    for (const name of logLevels) delete env[name]
    for (const [name, value] of hidden) env[name] = value
  }
}
