/** Foundry's answers to Anthropic's messages, with keys of a resource or tokens of Entra. */
import { anthropicDialect } from './stub-anthropic.ts'
import type { StubDialect } from './stub-server.ts'

export const foundryDialect = (
  allowed: { apiKey: string } | { tokens: Set<string> },
): StubDialect => ({
  frames: (answer) => anthropicDialect.frames(answer),
  error: (...about) => anthropicDialect.error(...about),
  refuse({ path, headers, body }) {
    const error = (code: string, message: string) => JSON.stringify({ error: { code, message } })
    if (!path.startsWith('/v1/messages'))
      return { status: 404, body: error('404', 'Resource not found') }
    if (body.model !== 'claude-test')
      return { status: 404, body: error('DeploymentNotFound', 'The API deployment does not exist') }
    const [, token = ''] = /^Bearer (.+)$/.exec(headers.authorization ?? '') ?? []
    const isIn =
      'apiKey' in allowed ? headers['x-api-key'] === allowed.apiKey : allowed.tokens.has(token)
    return isIn
      ? undefined
      : { status: 401, body: error('401', 'Access denied due to invalid key') }
  },
})
