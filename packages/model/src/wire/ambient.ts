import { env } from 'node:process'

const logLevels = ['ANTHROPIC_LOG', 'OPENAI_LOG']
/** What the vendors' clients read in their constructors, beside what they are given. */
const names = [
  ...logLevels,
  'ANTHROPIC_CUSTOM_HEADERS',
  'OPENAI_ADMIN_KEY',
  'OPENAI_CUSTOM_HEADERS',
  'OPENAI_ORG_ID',
  'OPENAI_PROJECT_ID',
  'GEMINI_API_KEY',
  'GOOGLE_API_KEY',
  'GOOGLE_CLOUD_LOCATION',
  'GOOGLE_CLOUD_PROJECT',
  'GOOGLE_GEMINI_BASE_URL',
  'GOOGLE_GENAI_USE_ENTERPRISE',
  'GOOGLE_GENAI_USE_VERTEXAI',
  'GOOGLE_VERTEX_BASE_URL',
]

/**
 * Runs `construct` as if the host had none of these settings. It must make its clients before it first awaits:
 * the variables are back when it returns.
 */
export function withoutAmbient<T>(construct: () => T): T {
  const hidden: [string, string][] = []
  for (const name of names) {
    const value = env[name]
    if (value === undefined) continue
    hidden.push([name, value])
    delete env[name]
  }
  // Their own log goes to the console, with what a provider sent.
  for (const name of logLevels) env[name] = 'off'
  try {
    return construct()
  } finally {
    for (const name of logLevels) delete env[name]
    for (const [name, value] of hidden) env[name] = value
  }
}
