/** The wire of HashiCorp Vault and OpenBao. */
import { z } from 'zod'
import { clippedWords, parsedJson } from '../wire.ts'

/**
 * `path`: below `/v1/`. Each part is escaped by itself; names were checked at the door besides. Throws for a part that a
 * URL would take away.
 */
export function vaultUrl(address: string, path: string): URL {
  const url = new URL(address)
  const parts = path.split('/')
  if (parts.some((part) => /^\.{0,2}$/.test(part)))
    throw new Error('a path has an empty part or a dot')
  url.pathname = `${url.pathname.replace(/\/+$/, '')}/v1/${parts.map(encodeURIComponent).join('/')}`
  return url
}

/** SECRET: never logged. Vault answers 412 or ignores requests without its mark. */
export const vaultHeaders = ({
  token,
  namespace,
}: {
  token?: string
  namespace?: string | undefined
}): Record<string, string> => ({
  'x-vault-request': 'true',
  'content-type': 'application/json',
  ...(token === undefined ? {} : { 'x-vault-token': token }),
  ...(namespace === undefined ? {} : { 'x-vault-namespace': namespace }),
})

const Errors = z.object({ errors: z.array(z.string()) })

/** The errors of an answer in the manager's own words. */
export function saidByVault(text: string): string {
  const parsed = Errors.safeParse(parsedJson(text))
  return clippedWords(parsed.success ? parsed.data.errors.join('; ') : '')
}
