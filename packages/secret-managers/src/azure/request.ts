/** Requests to an Azure Key Vault, for its secrets and its keys. */
import type { BearerIdentity } from '@steward/cloud/identity.ts'
import { z } from 'zod'
import { bearer, cloudRequests } from '../cloud-wire.ts'
import type { ManagerFailure, ManagerWire } from '../wire.ts'
import { clippedWords, failureOfStatus, parsedJson } from '../wire.ts'

/** `identity`: a token for https://vault.azure.net/.default. SECRET: never logged. */
export type AzureDeps = { wire: ManagerWire; identity: BearerIdentity }

const Refusal = z.object({
  error: z.object({ code: z.string().optional(), message: z.string().optional() }),
})

function azureFailure(status: number, text: string): ManagerFailure {
  const parsed = Refusal.safeParse(parsedJson(text))
  const { code = '', message = '' } = parsed.success ? parsed.data.error : {}
  return failureOfStatus(status, clippedWords([code, message].filter(Boolean).join(': ')))
}

const apiVersion = '7.4'

/** `path`: its parts checked at the door. */
export function azureRequests(vaultUrl: string, deps: AzureDeps) {
  const send = cloudRequests({ ...deps, sign: bearer, failureOf: azureFailure })
  return (path: string, body: object | undefined, signal: AbortSignal) =>
    send(
      {
        method: body === undefined ? 'GET' : 'POST',
        url: new URL(`/${path}?api-version=${apiVersion}`, vaultUrl),
        headers: { 'content-type': 'application/json' },
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      },
      signal,
    )
}
