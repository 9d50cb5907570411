/** Vertex AI's answers to Anthropic's messages, with tokens of Google. */
import { anthropicDialect } from './stub-anthropic.ts'
import type { StubDialect } from './stub-server.ts'

/** Errors of Google itself; the others are passed on as Anthropic says them. */
const ofGoogle: Record<number, string> = {
  401: 'UNAUTHENTICATED',
  403: 'PERMISSION_DENIED',
  404: 'NOT_FOUND',
  429: 'RESOURCE_EXHAUSTED',
}

export const vertexDialect = (tokens: ReadonlySet<string>): StubDialect => ({
  frames: (answer) => anthropicDialect.frames(answer),
  error(status, type, message) {
    const word = ofGoogle[status]
    if (word === undefined) return anthropicDialect.error(status, type, message)
    return JSON.stringify([{ error: { code: status, message, status: word } }])
  },
  refuse({ path, headers, body }) {
    const refusal = (status: number, message: string) => ({
      status,
      body: this.error(status, '', message),
    })
    const at =
      /^\/v1\/projects\/stub-project\/locations\/[\w-]+\/publishers\/anthropic\/models\/[^/]+:streamRawPredict$/
    if (!at.test(path)) return refusal(404, `Publisher Model ${path} was not found`)
    if (body.anthropic_version !== 'vertex-2023-10-16' || 'model' in body || body.stream !== true)
      return refusal(400, 'Malformed request')
    const [, token = ''] = /^Bearer (.+)$/.exec(headers.authorization ?? '') ?? []
    return tokens.has(token)
      ? undefined
      : refusal(401, 'Request had invalid authentication credentials.')
  },
})
