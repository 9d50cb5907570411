/** The fields of a credential, by its type. Secrets are typed into fields that do not show them. */
import { Check, Choices } from '../../components/choices.tsx'
import { Field } from '../../components/field.tsx'
import { FieldGroup, FieldRow } from '../../components/form-page.tsx'
import { Row } from '../../components/layout.tsx'
import { Select } from '../../components/select.tsx'
import type { Problems } from '../../lib/api/problems.ts'
import { keysOf } from '../../lib/keys-of.ts'
import type { CredentialDraft } from './credential-draft.ts'
import { credentialWords as own } from './words.ts'

export type CredentialFieldsProps = {
  draft: CredentialDraft
  onDraft: (draft: CredentialDraft) => void
  fields: Problems['fields']
}

type SecretName = 'secret' | 'refreshToken' | 'clientSecret'

/** A secret is typed once: `isSet` where another one is there already. */
export const SecretField = ({
  draft,
  onDraft,
  name,
  label,
  problem,
  hint,
  isSet = false,
  autoFocus = false,
}: Omit<CredentialFieldsProps, 'fields'> & {
  name: SecretName
  label: string
  problem: string | undefined
  hint?: string
  isSet?: boolean
  autoFocus?: boolean
}) => (
  <Field
    type="password"
    label={label}
    value={draft[name]}
    problem={problem}
    autoFocus={autoFocus}
    {...(hint !== undefined && { hint })}
    {...(isSet && { placeholder: own.fields.secretSet })}
    onChange={(value) => onDraft({ ...draft, [name]: value })}
  />
)

/** A secret, or its name in a secret manager. `field`: of the request. */
function GivenSecretFields({
  draft,
  onDraft,
  fields,
  label,
  field,
}: CredentialFieldsProps & { label: string; field: 'auth.token' | 'auth.secret_value' }) {
  const text = (name: 'manager' | 'secretName' | 'secretField', part: string) => ({
    value: draft[name],
    problem: fields[`${field}.${part}`],
    onChange: (value: string) => onDraft({ ...draft, [name]: value }),
  })
  return (
    <>
      <Check
        label={own.fields.isReferred}
        isOn={draft.isReferred}
        onChange={(isReferred) => onDraft({ ...draft, isReferred })}
      />
      {draft.isReferred ? (
        <FieldRow>
          <Field
            label={own.fields.manager}
            placeholder={own.fields.managerPlaceholder}
            {...text('manager', 'manager')}
            problem={fields[`${field}.manager`] ?? fields[field]}
          />
          <Field
            label={own.fields.secretName}
            placeholder={own.fields.secretNamePlaceholder}
            {...text('secretName', 'name')}
          />
          <Field
            label={own.fields.secretField}
            hint={own.fields.optional}
            {...text('secretField', 'field')}
          />
        </FieldRow>
      ) : (
        <SecretField
          draft={draft}
          onDraft={onDraft}
          name="secret"
          label={label}
          hint={own.fields.secretHint}
          problem={fields[field]}
        />
      )}
    </>
  )
}

/** All that a new credential of the draft's type has. */
export function NewCredentialFields(props: CredentialFieldsProps) {
  const { draft, fields } = props
  switch (draft.type) {
    case 'static_bearer':
      return (
        <>
          <ServerField {...props} />
          <GivenSecretFields {...props} label={own.fields.token} field="auth.token" />
        </>
      )
    case 'mcp_oauth':
      return <OAuthFields {...props} />
    case 'cap_cli':
      return (
        <>
          <ProgramField {...props} />
          <GivenSecretFields {...props} label={own.fields.token} field="auth.token" />
        </>
      )
    case 'command_secret':
      return (
        <>
          <VariableField {...props} problem={fields['auth.env_var']} />
          <PrefixesField {...props} />
          <GivenSecretFields {...props} label={own.fields.value} field="auth.token" />
        </>
      )
    case 'environment_variable':
      return (
        <>
          <VariableField {...props} problem={fields['auth.secret_name']} />
          <GivenSecretFields {...props} label={own.fields.value} field="auth.secret_value" />
          <ReachFields {...props} />
        </>
      )
    case 'agent_identity':
      return (
        <>
          <ServerField {...props} />
          <IdentityFields {...props} />
        </>
      )
  }
}

/** What an agent proves who it is for. Nothing of it is secret. */
export const IdentityFields = ({ draft, onDraft, fields }: CredentialFieldsProps) => (
  <>
    <Field
      label={own.fields.audience}
      placeholder={own.fields.audiencePlaceholder}
      hint={own.fields.audienceHint}
      value={draft.audience}
      problem={fields['auth.audience']}
      onChange={(audience) => onDraft({ ...draft, audience })}
    />
    <Field
      label={own.fields.hosts}
      placeholder={own.fields.hostsPlaceholder}
      hint={own.fields.identityHostsHint}
      value={draft.hosts}
      problem={fields['auth.allowed_hosts']}
      onChange={(hosts) => onDraft({ ...draft, hosts })}
    />
  </>
)

export const NameField = ({ draft, onDraft, fields }: CredentialFieldsProps) => (
  <Field
    label={own.fields.name}
    placeholder={own.fields.namePlaceholder}
    hint={own.fields.nameHint}
    value={draft.name}
    problem={fields['display_name']}
    onChange={(name) => onDraft({ ...draft, name })}
  />
)

const ServerField = ({ draft, onDraft, fields }: CredentialFieldsProps) => (
  <Field
    label={own.fields.server}
    placeholder={own.fields.serverPlaceholder}
    hint={own.fields.serverHint}
    value={draft.server}
    problem={fields['auth.mcp_server_url']}
    onChange={(server) => onDraft({ ...draft, server })}
  />
)

const programs = ['gh', 'glab', 'hf', 'npm', 'vercel'].map((value) => ({ value, label: value }))

const ProgramField = ({ draft, onDraft, fields }: CredentialFieldsProps) => (
  <Select
    label={own.fields.program}
    choices={programs}
    value={draft.program}
    problem={fields['auth.cli_id']}
    onChange={(program) => onDraft({ ...draft, program })}
  />
)

const VariableField = ({
  draft,
  onDraft,
  problem,
}: Omit<CredentialFieldsProps, 'fields'> & { problem: string | undefined }) => (
  <Field
    label={own.fields.variable}
    placeholder={own.fields.variablePlaceholder}
    value={draft.variable}
    problem={problem}
    onChange={(variable) => onDraft({ ...draft, variable })}
  />
)

export const PrefixesField = ({ draft, onDraft, fields }: CredentialFieldsProps) => (
  <Field
    isLong
    label={own.fields.prefixes}
    placeholder={own.fields.prefixesPlaceholder}
    hint={own.fields.prefixesHint}
    value={draft.prefixes}
    problem={fields['auth.command_prefixes']}
    onChange={(prefixes) => onDraft({ ...draft, prefixes })}
  />
)

/** To which hosts a placeholder becomes the secret, and where in a request. */
export const ReachFields = ({ draft, onDraft, fields }: CredentialFieldsProps) => (
  <>
    <FieldGroup label={own.fields.reach}>
      <Choices
        label={own.fields.reach}
        choices={[
          { value: 'limited', label: own.fields.limited },
          { value: 'unrestricted', label: own.fields.unrestricted },
        ]}
        value={draft.isLimited ? 'limited' : 'unrestricted'}
        onChange={(value) => onDraft({ ...draft, isLimited: value === 'limited' })}
      />
    </FieldGroup>
    {draft.isLimited && (
      <Field
        label={own.fields.hosts}
        placeholder={own.fields.hostsPlaceholder}
        hint={own.fields.hostsHint}
        value={draft.hosts}
        problem={fields['auth.networking']}
        onChange={(hosts) => onDraft({ ...draft, hosts })}
      />
    )}
    <FieldGroup label={own.fields.places} problem={fields['auth.injection_location']}>
      <Row gap="wide">
        <Check
          label={own.fields.inHeader}
          isOn={draft.inHeader}
          onChange={(inHeader) => onDraft({ ...draft, inHeader })}
        />
        <Check
          label={own.fields.inBody}
          isOn={draft.inBody}
          onChange={(inBody) => onDraft({ ...draft, inBody })}
        />
      </Row>
    </FieldGroup>
  </>
)

export const ExpiryField = ({ draft, onDraft, fields }: CredentialFieldsProps) => (
  <Field
    type="datetime-local"
    label={own.fields.expires}
    hint={own.fields.expiresHint}
    value={draft.expires}
    problem={fields['auth.expires_at']}
    onChange={(expires) => onDraft({ ...draft, expires })}
  />
)

export const ScopeField = ({ draft, onDraft, fields }: CredentialFieldsProps) => (
  <Field
    label={own.fields.scope}
    placeholder={own.fields.scopePlaceholder}
    hint={own.fields.optional}
    value={draft.scope}
    problem={fields['auth.refresh.scope']}
    onChange={(scope) => onDraft({ ...draft, scope })}
  />
)

/** How the client shows itself where a token is renewed; `isSet`: it has a secret already. */
export const ClientFields = ({
  isSet = false,
  ...props
}: CredentialFieldsProps & { isSet?: boolean }) => (
  <FieldRow>
    <Select
      label={own.fields.clientAuth}
      choices={keysOf(own.clientAuth).map((value) => ({ value, label: own.clientAuth[value] }))}
      value={props.draft.clientAuth}
      problem={props.fields['auth.refresh.token_endpoint_auth']}
      onChange={(clientAuth) => props.onDraft({ ...props.draft, clientAuth })}
    />
    {props.draft.clientAuth !== 'none' && (
      <SecretField
        {...props}
        name="clientSecret"
        label={own.fields.clientSecret}
        problem={undefined}
        isSet={isSet}
      />
    )}
  </FieldRow>
)

function OAuthFields(props: CredentialFieldsProps) {
  const { draft, onDraft, fields } = props
  return (
    <>
      <ServerField {...props} />
      <FieldRow>
        <SecretField
          {...props}
          name="secret"
          label={own.fields.accessToken}
          hint={own.fields.secretHint}
          problem={fields['auth.access_token']}
        />
        <ExpiryField {...props} />
      </FieldRow>
      <Check
        label={own.fields.isRenewed}
        isOn={draft.isRenewed}
        onChange={(isRenewed) => onDraft({ ...draft, isRenewed })}
      />
      {draft.isRenewed && (
        <>
          <FieldRow>
            <SecretField
              {...props}
              name="refreshToken"
              label={own.fields.refreshToken}
              hint={own.fields.secretHint}
              problem={fields['auth.refresh.refresh_token']}
            />
            <Field
              label={own.fields.tokenEndpoint}
              placeholder={own.fields.tokenEndpointPlaceholder}
              value={draft.tokenEndpoint}
              problem={fields['auth.refresh.token_endpoint']}
              onChange={(tokenEndpoint) => onDraft({ ...draft, tokenEndpoint })}
            />
          </FieldRow>
          <Field
            label={own.fields.clientId}
            hint={own.fields.optional}
            value={draft.clientId}
            problem={fields['auth.refresh.client_id']}
            onChange={(clientId) => onDraft({ ...draft, clientId })}
          />
          <ClientFields {...props} />
          <FieldRow>
            <ScopeField {...props} />
            <Field
              label={own.fields.resource}
              hint={own.fields.optional}
              value={draft.resource}
              problem={fields['auth.refresh.resource']}
              onChange={(resource) => onDraft({ ...draft, resource })}
            />
          </FieldRow>
        </>
      )}
    </>
  )
}
