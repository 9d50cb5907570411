/** Errors of `/openai/v1` as the unmodified client reads them. */
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import OpenAI from 'openai'
import type { ErrorKind } from '@steward/server/ground/core/errors.ts'
import { PlatformError, StorageError } from '@steward/server/ground/core/errors.ts'
import { openaiWire } from '@steward/server/surfaces/openai/errors.ts'

const request = { code: 'invalid_request_error', type: 'invalid_request_error' }
const server = { code: 'internal_error', type: 'server_error' }

/** By kind of error: the class of the client, the code that its guide names for the status, and the type. */
const expected: Record<ErrorKind, [type: string, code: string, word: string]> = {
  invalid_request: ['BadRequestError', request.code, request.type],
  unauthorized: ['AuthenticationError', 'unauthorized', 'authentication_error'],
  forbidden: ['PermissionDeniedError', 'forbidden', 'permission_error'],
  not_found: ['NotFoundError', 'not_found_error', 'not_found_error'],
  method_not_allowed: ['APIError', request.code, request.type],
  conflict: ['ConflictError', 'conflict_error', 'conflict_error'],
  precondition_failed: ['APIError', request.code, request.type],
  too_large: ['APIError', request.code, request.type],
  range_not_satisfiable: ['APIError', request.code, request.type],
  rate_limited: ['RateLimitError', 'rate_limit_exceeded', 'rate_limit_error'],
  bad_gateway: ['InternalServerError', server.code, server.type],
  unavailable: ['InternalServerError', 'service_unavailable_error', 'server_error'],
}

/** The error that the client throws for an answer of this surface. */
function clientError(thrown: unknown): InstanceType<typeof OpenAI.APIError> {
  const { status, body } = openaiWire.errorAnswer(thrown, {
    dialect: 'interface',
    requestId: 'req_1',
  })
  return OpenAI.APIError.generate(status, body, undefined, new Headers())
}

describe('errors of the OpenAI surface', () => {
  for (const [kind, [type, code, word]] of Object.entries(expected))
    it(`${kind} has the class, the code and the type of its status`, () => {
      const error = clientError(new PlatformError(kind as ErrorKind, 'name: must not be empty'))
      assert.equal(error.constructor.name, type)
      assert.deepEqual([error.code, error.type, error.param], [code, word, 'name'])
    })

  it('a bug and a full disk are errors of the server', () => {
    for (const thrown of [new Error('a bug'), new StorageError('full', new Error('no space'))]) {
      const error = clientError(thrown)
      assert.ok(error instanceof OpenAI.InternalServerError)
      assert.deepEqual([error.code, error.type], [server.code, server.type])
      assert.doesNotMatch(error.message, /a bug/)
    }
  })
})
