/** Requests of commands to the server itself, by its public API. */
import { z } from 'zod'

export type OwnApi = {
  /** Address of the server. */
  base: string
  /** SECRET: never logged. */
  apiKey: string
}

const Made = z.looseObject({ id: z.string() })

/** A failure in one line, for a person who cannot use a stack. */
export const reasonOf = (error: unknown): string => {
  const { message, cause } = error instanceof Error ? error : new Error(String(error))
  return cause instanceof Error && cause.message ? `${message}: ${cause.message}` : message
}

const Refusal = z.looseObject({ error: z.looseObject({ message: z.string() }) })

/** What a server says in an error, in one line. */
export function wordsOf(text: string): string {
  let given: unknown
  try {
    given = JSON.parse(text)
  } catch {
    given = undefined
  }
  const { data } = Refusal.safeParse(given)
  return (data?.error.message ?? text).replaceAll(/\s+/g, ' ').slice(0, 500)
}

/** Throws with the words of the server. */
export async function post(
  { base, apiKey }: OwnApi,
  path: string,
  body: object,
): Promise<Response> {
  const headers = { 'x-api-key': apiKey, 'content-type': 'application/json' }
  const response = await fetch(base + path, { method: 'POST', headers, body: JSON.stringify(body) })
  if (!response.ok)
    throw new Error(`POST ${path} answered ${response.status}: ${wordsOf(await response.text())}`)
  return response
}
/** The id of what the request has made. */
export const make = async (api: OwnApi, path: string, body: object): Promise<string> =>
  Made.parse(await (await post(api, path, body)).json()).id

const Page = z.looseObject({ data: z.array(z.unknown()) })

/** The first page of a list. */
export async function list({ base, apiKey }: OwnApi, path: string): Promise<unknown[]> {
  const response = await fetch(base + path, { headers: { 'x-api-key': apiKey } })
  const text = await response.text()
  if (!response.ok) throw new Error(`GET ${path} answered ${response.status}: ${wordsOf(text)}`)
  return Page.parse(JSON.parse(text)).data
}
