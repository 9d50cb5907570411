import { env } from 'node:process'

/** What the vendors' clients read in their constructors, beside what they are given. */
const names = [
  'ANTHROPIC_CUSTOM_HEADERS',
  'ANTHROPIC_LOG',
  'OPENAI_ADMIN_KEY',
  'OPENAI_CUSTOM_HEADERS',
  'OPENAI_LOG',
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
  try {
    return construct()
  } finally {
    for (const [name, value] of hidden) env[name] = value
  }
}
