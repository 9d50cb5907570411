/** A new credential of a vault: the form, and beside it what will be sent, without its secrets. */
import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { useState } from 'react'
import { Button } from '../../components/button.tsx'
import { Fields, FormBar, FormPanes } from '../../components/form-page.tsx'
import { Problem } from '../../components/layout.tsx'
import { Page } from '../../components/page.tsx'
import { RequestView } from '../../components/request-view.tsx'
import { Select } from '../../components/select.tsx'
import { problemsOf } from '../../lib/api/problems.ts'
import type { VaultCredential } from '../../lib/api/types.ts'
import { keysOf } from '../../lib/keys-of.ts'
import { useReadOnlyReason } from '../../lib/rights.ts'
import { say } from '../../lib/toasts.ts'
import type { CredentialDraft } from './credential-draft.ts'
import {
  createBody,
  credentialFields,
  nameOf,
  newCredential,
  withoutSecrets,
} from './credential-draft.ts'
import { NameField, NewCredentialFields } from './credential-form.tsx'
import { useCredentialCreate, vaultQuery } from './vaults.ts'
import { credentialWords as own, vaultWords } from './words.ts'

const kinds = keysOf(own.kinds).map((value) => ({
  value,
  label: own.kinds[value],
  beside: value,
}))

function missingSecret({ type, ...draft }: CredentialDraft): string | undefined {
  if (!draft.isReferred || type === 'mcp_oauth')
    return draft.secret === '' ? own.missingSecret : undefined
  const isNamed = draft.manager.trim() !== '' && draft.secretName.trim() !== ''
  return isNamed ? undefined : own.missingReference
}

function whatIdentityLacks({ audience, server, hosts }: CredentialDraft): string | undefined {
  if (audience.trim() === '') return own.missingAudience
  return server.trim() === '' && hosts.trim() === '' ? own.missingDestination : undefined
}

const whatIsMissing = (draft: CredentialDraft): string | undefined =>
  draft.type === 'agent_identity' ? whatIdentityLacks(draft) : whatSecretLacks(draft)

function whatSecretLacks(draft: CredentialDraft): string | undefined {
  const { type } = draft
  const isForServer = type === 'static_bearer' || type === 'mcp_oauth'
  const isVariable = type === 'command_secret' || type === 'environment_variable'
  const isRenewed = type === 'mcp_oauth' && draft.isRenewed
  if (isForServer && draft.server.trim() === '') return own.missingServer
  if (isVariable && draft.variable.trim() === '') return own.missingVariable
  const noSecret = missingSecret(draft)
  if (noSecret !== undefined) return noSecret
  if (isRenewed && (draft.refreshToken === '' || draft.tokenEndpoint.trim() === ''))
    return own.missingRefresh
  const isUnreachable = draft.isLimited && draft.hosts.trim() === ''
  return type === 'environment_variable' && isUnreachable ? own.missingHosts : undefined
}

export function NewCredentialPage({
  vault,
  onAdded,
}: {
  vault: string
  onAdded: (credential: VaultCredential) => void
}) {
  const { data } = useQuery(vaultQuery(vault))
  const [draft, setDraft] = useState(newCredential)
  const create = useCredentialCreate(vault)
  const readOnly = useReadOnlyReason()
  const { fields, rest } = problemsOf(create.error, credentialFields)
  const isArchived = typeof data?.archived_at === 'string'
  const submit = () =>
    create.mutate(createBody(draft), {
      onSuccess: (credential) => {
        say({ kind: 'done', text: own.added(nameOf(credential)) })
        onAdded(credential)
      },
    })
  return (
    <Page
      title={own.addTitle}
      crumbs={
        <>
          <Link to="/vaults">{vaultWords.title}</Link>
          <span aria-hidden="true">/</span>
          <Link to="/vaults/$vaultId" params={{ vaultId: vault }}>
            {data?.display_name ?? vault}
          </Link>
        </>
      }
    >
      <FormPanes
        refusal={create.error}
        form={
          <Fields>
            <Select
              label={own.fields.type}
              choices={kinds}
              value={draft.type}
              hint={own.kindHints[draft.type]}
              onChange={(type) => {
                create.reset()
                setDraft({ ...draft, type })
              }}
            />
            <NameField draft={draft} onDraft={setDraft} fields={fields} />
            <NewCredentialFields draft={draft} onDraft={setDraft} fields={fields} />
          </Fields>
        }
        beside={
          <>
            <RequestView
              call={{
                method: 'POST',
                path: `/v1/vaults/${vault}/credentials`,
                client: 'beta.vaults.credentials.create',
                args: [vault],
                body: withoutSecrets(createBody(draft)),
              }}
            />
            <FormBar
              actions={
                <Button
                  kind="primary"
                  isBusy={create.isPending}
                  offBecause={
                    readOnly ?? (isArchived ? vaultWords.isArchived : whatIsMissing(draft))
                  }
                  onClick={submit}
                >
                  {own.add}
                </Button>
              }
            >
              <Problem text={rest} />
            </FormBar>
          </>
        }
      />
    </Page>
  )
}
