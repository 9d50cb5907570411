import { z } from 'zod'

export const OpenAIError = z
  .object({
    error: z
      .object({
        message: z.string().describe('A sentence for a person: which field is wrong, and why.'),
        type: z.string().describe('The kind of error; it follows from the status.'),
        param: z
          .string()
          .nullable()
          .describe('The field of the request that the message is about, or null.'),
        code: z.string().describe('A word for programs.'),
      })
      .describe('What was wrong.'),
  })
  .meta({ id: 'OpenAIError', description: 'The body of every error.' })
