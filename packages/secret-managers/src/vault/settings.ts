/** What the operator says about a HashiCorp Vault or an OpenBao. */
import { z } from 'zod'

const word = z.string().min(1).max(1024)
const path = z
  .string()
  .max(256)
  .regex(/^[\w-][\w.-]*(\/[\w-][\w.-]*)*$/, 'takes letters, digits, _ - . and / between them')
const kubernetesToken = '/var/run/secrets/kubernetes.io/serviceaccount/token'

const oneOf = (one: string, other: string) => `needs one of ${one} and ${other}`

const SignIn = z.discriminatedUnion('type', [
  z
    .strictObject({ type: z.literal('token'), token: word.optional(), token_file: word.optional() })
    .refine(({ token, token_file }) => (token === undefined) !== (token_file === undefined), {
      error: oneOf('token', 'token_file'),
    }),
  z
    .strictObject({
      type: z.literal('approle'),
      role_id: word,
      secret_id: word.optional(),
      secret_id_file: word.optional(),
      mount: path.default('approle'),
    })
    .refine(
      ({ secret_id, secret_id_file }) =>
        (secret_id === undefined) !== (secret_id_file === undefined),
      { error: oneOf('secret_id', 'secret_id_file') },
    ),
  z.strictObject({
    type: z.literal('kubernetes'),
    role: word,
    token_file: word.default(kubernetesToken),
    mount: path.default('kubernetes'),
  }),
  z.strictObject({
    type: z.literal('jwt'),
    role: word,
    token_file: word,
    mount: path.default('jwt'),
  }),
])
/** SECRET: never logged. */
export type VaultSignIn = z.infer<typeof SignIn>

const address = z.string().refine((text) => {
  const url = URL.parse(text)
  const isPlain = url && !url.search && !url.hash && !url.username && !url.password
  return isPlain && /^https?:$/.test(url.protocol)
}, 'must be an http or https URL without credentials and query')

const server = {
  address,
  /** Of Vault Enterprise and of OpenBao. */
  namespace: path.optional(),
  auth: SignIn,
}

export const VaultSettings = z.strictObject({
  type: z.literal('vault'),
  ...server,
  /** Where the key-value engine is mounted. */
  mount: path.default('secret'),
  kv: z.union([z.literal(1), z.literal(2)], 'must be 1 or 2').default(2),
})
export type VaultSettings = z.infer<typeof VaultSettings>

/** A key of the transit engine. */
export const VaultTransitSettings = z.strictObject({
  type: z.literal('vault-transit'),
  ...server,
  mount: path.default('transit'),
  key: path,
})
export type VaultTransitSettings = z.infer<typeof VaultTransitSettings>
