import { z } from 'zod'

/** The six words of the interface, and those of the official client that they answer to. [dialects/error-type] */
export const ErrorType = z.enum([
  'invalid_request',
  'not_found',
  'unauthorized',
  'forbidden',
  'rate_limited',
  'internal_error',
])
export type ErrorType = z.infer<typeof ErrorType>

export const ErrorBody = z.object({
  type: z.literal('error'),
  error: z.object({
    type: z.string(),
    message: z.string(),
    details: z.record(z.string(), z.unknown()).optional(),
  }),
  request_id: z.string().nullable(),
})
