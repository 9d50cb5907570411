/** A place in a secret manager of the company, which a credential names in place of a secret. */
import { z } from 'zod'

const segment = '[A-Za-z0-9_+=@-][A-Za-z0-9_.+=@-]*'

/**
 * A name below the path of the workspace. Attack: a name that leaves the path, by `..`, a first slash, an escape or a
 * query. Segments with other characters, and segments that begin with a dot, are therefore refused.
 */
export const SecretName = z
  .string()
  .min(1)
  .max(256)
  .regex(
    new RegExp(`^${segment}(/${segment})*$`),
    'takes letters, digits and _ - . + = @, with / between parts that do not begin with a dot',
  )

export const SecretManagerName = z
  .string()
  .regex(/^[a-z0-9][a-z0-9_-]{0,63}$/, 'must be a name of lower case letters, digits, _ and -')

export const SecretReference = z
  .strictObject({
    type: z.literal('secret_reference'),
    manager: SecretManagerName.describe(
      'The secret manager, by its name in the settings of the server.',
    ),
    name: SecretName.describe('The name of the secret there, below the path of the workspace.'),
    field: z
      .string()
      .min(1)
      .max(128)
      .regex(/^[\w.-]+$/, 'takes letters, digits, _ . and -')
      .optional()
      .describe(
        'The field to take of a secret that has several. HashiCorp Vault and OpenBao have fields; elsewhere the secret is then a JSON object.',
      ),
    version: z
      .string()
      .max(64)
      .regex(/^[A-Za-z0-9-]+$/, 'takes letters, digits and -')
      .optional()
      .describe('The version to take; the newest when absent.'),
  })
  .meta({
    id: 'SecretReference',
    description: 'A secret in a secret manager of the company, which is read when it is used.',
    'x-extension': true,
  })
export type SecretReference = z.infer<typeof SecretReference>

const isReference = (input: unknown): boolean =>
  typeof input === 'object' &&
  input !== null &&
  'type' in input &&
  input.type === 'secret_reference'

/** A secret that the service writes anew itself, so that no manager can hold it. */
export const withoutReference = <S extends z.ZodType<string, string>>(secret: S) =>
  z
    .string({
      error: ({ input }) =>
        isReference(input)
          ? 'takes no secret_reference, because the service itself writes renewed tokens: for a token that a secret manager keeps, use static_bearer'
          : undefined,
    })
    .pipe(secret)
