/** Writes a new secret into a credential, and changes where it goes. */
import type { ReactNode } from 'react'
import { useState } from 'react'
import { Check } from '../../components/choices.tsx'
import { FieldRow } from '../../components/form-page.tsx'
import { FormDialog } from '../../components/form-dialog.tsx'
import { Quiet } from '../../components/layout.tsx'
import { problemsOf } from '../../lib/api/problems.ts'
import type { CredentialUpdateBody, VaultCredential } from '../../lib/api/types.ts'
import { say } from '../../lib/toasts.ts'
import {
  changeBody,
  credentialFields,
  draftOf,
  nameOf,
  rotateBody,
  withoutSecrets,
} from './credential-draft.ts'
import {
  ClientFields,
  ExpiryField,
  IdentityFields,
  NameField,
  PrefixesField,
  ReachFields,
  ScopeField,
  SecretField,
} from './credential-form.tsx'
import { useCredentialChange } from './vaults.ts'
import { credentialWords as own } from './words.ts'

type ChangeDialogProps = {
  credential: VaultCredential
  title: string
  verb: string
  body: CredentialUpdateBody
  offBecause: string | undefined
  change: ReturnType<typeof useCredentialChange>
  onChanged: (name: string) => void
  onClose: () => void
  children: ReactNode
}

function ChangeDialog({ credential, body, change, onChanged, ...dialog }: ChangeDialogProps) {
  const { vault_id, id } = credential
  return (
    <FormDialog
      {...dialog}
      isBusy={change.isPending}
      problem={problemsOf(change.error, credentialFields).rest}
      call={{
        method: 'POST',
        path: `/v1/vaults/${vault_id}/credentials/${id}`,
        client: 'beta.vaults.credentials.update',
        args: [id],
        beside: { vault_id },
        body: withoutSecrets(body),
      }}
      onSubmit={() => change.mutate(body, { onSuccess: (changed) => onChanged(nameOf(changed)) })}
    />
  )
}

export function RotateCredential({
  credential,
  onRotated,
  onClose,
}: {
  credential: VaultCredential
  onRotated: (isToBeValidated: boolean) => void
  onClose: () => void
}) {
  const { auth } = credential
  const [draft, setDraft] = useState(() => draftOf(credential))
  const [isValidated, setValidated] = useState(true)
  const change = useCredentialChange(credential)
  const { fields } = problemsOf(change.error, credentialFields)
  const body = rotateBody(draft)
  const isOauth = auth.type === 'mcp_oauth'
  const isEmpty = draft.secret === '' && draft.refreshToken === ''
  const problem = fields['auth.token'] ?? fields['auth.access_token'] ?? fields['auth.secret_value']
  return (
    <ChangeDialog
      credential={credential}
      title={own.rotateTitle(nameOf(credential))}
      verb={own.rotateVerb}
      body={body}
      offBecause={isEmpty ? own.missingSecret : undefined}
      change={change}
      onClose={onClose}
      onChanged={(name) => {
        say({ kind: 'done', text: own.rotated(name) })
        onRotated(isOauth && isValidated)
      }}
    >
      <Quiet>{own.rotateHint}</Quiet>
      <SecretField
        draft={draft}
        onDraft={setDraft}
        name="secret"
        isSet
        label={isOauth ? own.fields.accessToken : own.fields.value}
        problem={problem}
      />
      {isOauth && (
        <>
          <FieldRow>
            {auth.refresh !== null && (
              <SecretField
                draft={draft}
                onDraft={setDraft}
                name="refreshToken"
                isSet
                label={own.fields.refreshToken}
                problem={fields['auth.refresh.refresh_token']}
              />
            )}
            <ExpiryField draft={draft} onDraft={setDraft} fields={fields} />
          </FieldRow>
          <Check label={own.validateThen} isOn={isValidated} onChange={setValidated} />
        </>
      )}
    </ChangeDialog>
  )
}

export function ChangeCredential({
  credential,
  onClose,
}: {
  credential: VaultCredential
  onClose: () => void
}) {
  const { auth } = credential
  const [before] = useState(() => draftOf(credential))
  const [draft, setDraft] = useState(before)
  const change = useCredentialChange(credential)
  const { fields } = problemsOf(change.error, credentialFields)
  const body = changeBody(before, draft)
  const shared = { draft, onDraft: setDraft, fields }
  return (
    <ChangeDialog
      credential={credential}
      title={own.changeTitle(nameOf(credential))}
      verb={own.changeVerb}
      body={body}
      offBecause={Object.keys(body).length === 0 ? own.nothingDiffers : undefined}
      change={change}
      onClose={onClose}
      onChanged={(name) => {
        say({ kind: 'done', text: own.changed(name) })
        onClose()
      }}
    >
      <NameField {...shared} />
      {auth.type === 'mcp_oauth' && auth.refresh !== null && (
        <>
          <ScopeField {...shared} />
          {auth.refresh.client_id !== null && <ClientFields {...shared} isSet />}
        </>
      )}
      {auth.type === 'command_secret' && <PrefixesField {...shared} />}
      {auth.type === 'environment_variable' && <ReachFields {...shared} />}
      {auth.type === 'agent_identity' && <IdentityFields {...shared} />}
      {(auth.type === 'command_secret' || auth.type === 'environment_variable') && (
        <SecretField
          {...shared}
          name="secret"
          isSet
          label={own.fields.secretAgain}
          hint={own.fields.secretAgainHint}
          problem={fields['auth.token'] ?? fields['auth.secret_value']}
        />
      )}
    </ChangeDialog>
  )
}
