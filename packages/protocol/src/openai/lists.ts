/** The parts that all resources of `/openai/v1` share: lists, times, and errors of unsupported fields. */
import { z } from 'zod'
import { Id, pageLimit } from '../primitives.ts'

export const UnixSeconds = z.number().describe('Seconds since 1970, as Unix counts them.')

export const AfterQuery = z.object({
  limit: pageLimit(1, 100).optional().describe('Items of one page at most; 20 when absent.'),
  order: z.enum(['asc', 'desc']).optional().describe('By their creation; `desc` when absent.'),
  after: Id.optional().describe('The id of the last item of the page before.'),
})
export type AfterQuery = z.infer<typeof AfterQuery>

export const OpenAIListOf = <S extends z.ZodType>(item: S) =>
  z.object({
    object: z.literal('list'),
    data: z.array(item),
    has_more: z.boolean().describe('Whether there is a next page.'),
    first_id: z.string().nullable(),
    last_id: z.string().nullable().describe('Send it as `after` for the next page.'),
  })

export type OpenAIList<Item> = {
  object: 'list'
  data: Item[]
  has_more: boolean
  first_id: string | null
  last_id: string | null
}

export const OpenAIDeleted = <T extends string>(object: T) =>
  z.object({
    id: z.string().describe('What was deleted.'),
    deleted: z.literal(true),
    object: z.literal(object),
  })

/** The error of a field that the wire has and this service does not support. `wayOut` tells the caller what to do. */
export const unsupportedField = (wayOut: string) => ({ error: `is not supported: ${wayOut}` })

/** What the service does not take of a field. `only`: the values that this is about; all where it is absent. */
export type Restriction = { kind: 'refused' | 'unmet'; only?: string }

/** The restrictions of this wire. The page about it is made from them. */
export const restrictions = z.registry<Restriction>()

/** Marks a field as refused, for all values or for some. */
export const refused = <S extends z.ZodType>(schema: S, only?: string): S => {
  restrictions.add(schema, { kind: 'refused', ...(only !== undefined && { only }) })
  return schema
}

/** Marks a field as a wish that is taken and changes nothing. */
export const unmet = <S extends z.ZodType>(schema: S, only?: string): S => {
  restrictions.add(schema, { kind: 'unmet', ...(only !== undefined && { only }) })
  return schema
}

/** A list that must be empty. */
export const emptyList = (wayOut: string) =>
  refused(z.array(z.unknown()).max(0, unsupportedField(wayOut)))
    .nullish()
    .describe(`Empty: ${wayOut}.`)

/** All `metadata[key]=value` pairs of a query. */
export function readMetadataFilter(
  query: Readonly<Record<string, unknown>>,
): [key: string, value: string][] {
  return Object.entries(query).flatMap(([name, value]): [string, string][] => {
    const key = /^metadata\[(.+)\]$/s.exec(name)?.[1]
    if (key === undefined) return []
    return [value].flat().flatMap((each) => (typeof each === 'string' ? [[key, each]] : []))
  })
}
