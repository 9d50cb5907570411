import { z } from 'zod'

/** The six words of the interface. Each answers to words of the official client. [dialects/error-type] */
export const ErrorType = z.enum([
  'invalid_request',
  'not_found',
  'unauthorized',
  'forbidden',
  'rate_limited',
  'internal_error',
])
export type ErrorType = z.infer<typeof ErrorType>

/** Words of the official client. A request with `anthropic-version` gets these words in its errors. */
export const ClientErrorType = z.enum([
  'invalid_request_error',
  'authentication_error',
  'permission_error',
  'not_found_error',
  'conflict_error',
  'rate_limit_error',
  'api_error',
  'overloaded_error',
  'memory_path_conflict_error',
  'memory_precondition_failed_error',
])
export type ClientErrorType = z.infer<typeof ClientErrorType>

export const ErrorResponse = z
  .object({
    type: z.literal('error'),
    error: z
      .object({
        type: z
          .enum([...ErrorType.options, ...ClientErrorType.options])
          .describe(
            'The kind of error. Words that end in `_error` are for requests with the header `anthropic-version`.',
          ),
        message: z.string().describe('A sentence for a person: which field is wrong, and why.'),
        details: z
          .looseObject({
            error_code: z.string().optional().describe('A word for programs, where there is one.'),
          })
          .optional()
          .describe('More about the error; absent where there is no more.'),
        conflicting_memory_id: z
          .string()
          .optional()
          .describe('Of a `memory_path_conflict_error`: the id of the memory in the way.'),
        conflicting_path: z
          .string()
          .optional()
          .describe('Of a `memory_path_conflict_error`: the path of the memory in the way.'),
      })
      .describe('What was wrong.'),
    request_id: z.string().nullable().describe('Names the request in the log of the server.'),
  })
  .meta({ id: 'ErrorResponse', description: 'The body of every error.' })
