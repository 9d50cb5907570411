/** Google Secret Manager. */
import { z } from 'zod'
import type { SecretManager } from '../secret-manager.ts'
import { takeField, utf8Text } from '../secret-manager.ts'
import { failure, parsedJson } from '../wire.ts'
import type { GoogleRequestDeps } from './request.ts'
import { googleRequests } from './request.ts'

const Answer = z.object({
  name: z.string(),
  payload: z.object({ data: z.base64() }),
})

type GoogleSecretSettings = {
  project: string
  /** Of secrets that lie in one region. */
  location?: string | undefined
  endpoint?: string | undefined
}

const usualEndpoint = (location: string | undefined): string =>
  location === undefined
    ? 'https://secretmanager.googleapis.com'
    : `https://secretmanager.${location}.rep.googleapis.com`

export function googleSecrets(
  { project, location, endpoint = usualEndpoint(location) }: GoogleSecretSettings,
  deps: GoogleRequestDeps,
): SecretManager {
  const send = googleRequests(endpoint, deps)
  const base = `projects/${project}${location === undefined ? '' : `/locations/${location}`}`
  return {
    async read({ name, field, version = 'latest' }, signal) {
      if (!/^[\w-]{1,255}$/.test(name))
        return failure('malformed', 'a name there has letters, digits, _ and - alone')
      if (!/^(latest|[1-9]\d{0,8})$/.test(version))
        return failure('malformed', 'a version is a number there')
      const path = `${base}/secrets/${name}/versions/${version}:access`
      const answer = await send(path, undefined, signal)
      if (!answer.ok) return answer
      const read = Answer.safeParse(parsedJson(answer.text))
      if (!read.success) return failure('malformed', 'it answers without a secret')
      const text = utf8Text(read.data.payload.data)
      if (text === undefined) return failure('malformed', 'the secret is no text in UTF-8')
      return takeField(text, { field, version: read.data.name.split('/').at(-1) ?? null })
    },
  }
}
