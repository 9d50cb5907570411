/** The setting of further OAuth clients: JSON by client id. */
import { z } from 'zod'
import { parseJsonSetting } from '@steward/protocol/json-setting.ts'

/** A browser goes there with a code, so that a script or a data URL is none. */
const redirectUri = z
  .string()
  .max(2_000)
  .refine((text) => {
    const url = URL.canParse(text) ? new URL(text) : undefined
    return (
      url !== undefined && !text.includes('#') && !/^(javascript|data|file):$/.test(url.protocol)
    )
  }, 'must be a URL without a fragment')

const Clients = z.record(
  z.string().regex(/^[\w.:/-]{1,200}$/, 'is no client id'),
  z.strictObject({
    name: z.string().min(1).max(100),
    redirect_uris: z.array(redirectUri).max(20).default([]),
  }),
)

export type RegisteredClients = z.infer<typeof Clients>

export const oauthClientsSchema = () => z.toJSONSchema(Clients, { io: 'input', target: 'draft-7' })

export const parseOAuthClients = (text: string): RegisteredClients =>
  parseJsonSetting(Clients, text)
