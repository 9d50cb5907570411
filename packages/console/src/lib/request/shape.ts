/** Whether what was written has the outlines that a form can show. */
import type * as z from 'zod/mini'
import { words } from '../words.ts'
import type { JsonBody } from './api-call.ts'

/** Undefined for a body that has them; else which field has not. */
export function problemOfShape(shape: z.ZodMiniType, body: JsonBody): string | undefined {
  const read = shape.safeParse(body)
  if (read.success) return undefined
  const [issue] = read.error.issues
  return words.request.otherForm((issue?.path ?? []).map(String).join('.'))
}
