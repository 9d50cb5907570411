/** AWS Secrets Manager. */
import { z } from 'zod'
import type { SecretManager } from '../secret-manager.ts'
import { takeField, utf8Text } from '../secret-manager.ts'
import { failure, parsedJson } from '../wire.ts'
import type { AwsDeps } from './request.ts'
import { awsRequests } from './request.ts'

const Answer = z.object({
  SecretString: z.string().optional(),
  SecretBinary: z.base64().optional(),
  VersionId: z.string(),
})

export function awsSecrets(
  { region, endpoint }: { region: string; endpoint?: string | undefined },
  deps: AwsDeps,
): SecretManager {
  const send = awsRequests(
    { service: 'secretsmanager', prefix: 'secretsmanager', region, endpoint },
    deps,
  )
  return {
    async read({ name, field, version }, signal) {
      const asked = { SecretId: name, ...(version === undefined ? {} : { VersionId: version }) }
      const answer = await send('GetSecretValue', asked, signal)
      if (!answer.ok) return answer
      const read = Answer.safeParse(parsedJson(answer.text))
      if (!read.success) return failure('malformed', 'it answers without a secret')
      const { SecretString, SecretBinary, VersionId } = read.data
      const text = SecretString ?? utf8Text(SecretBinary ?? '')
      return text === undefined
        ? failure('malformed', 'the secret is no text in UTF-8')
        : takeField(text, { field, version: VersionId })
    },
  }
}
