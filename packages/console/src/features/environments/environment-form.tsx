/** The form of an environment: what most people set. All the rest stands in the YAML beside it. */
import { Check, Choices } from '../../components/choices.tsx'
import { Field } from '../../components/field.tsx'
import { FieldGroup, Fields } from '../../components/form-page.tsx'
import { Row } from '../../components/layout.tsx'
import { NameFields } from '../../components/name-fields.tsx'
import { Select } from '../../components/select.tsx'
import type { Problems } from '../../lib/api/problems.ts'
import { keysOf } from '../../lib/keys-of.ts'
import type { DraftPartProps, EnvironmentDraft, LimitedNetwork } from './draft.ts'
import { cloudOf, limitedOf } from './draft.ts'
import { HostsField } from './hosts-field.tsx'
import { PackagesField } from './packages-field.tsx'
import { VariablesField } from './variables-field.tsx'
import { environmentWords as own } from './words.ts'

type EnvironmentFormProps = {
  draft: EnvironmentDraft
  onDraft: (draft: EnvironmentDraft) => void
  problems: Problems
  /** Where sessions run is chosen once, when an environment is made. */
  isNew: boolean
}

export function EnvironmentForm({ draft, onDraft, problems, isNew }: EnvironmentFormProps) {
  const { fields } = problems
  const set = (part: EnvironmentDraft) => onDraft({ ...draft, ...part })
  const config = sentencesOf(fields['config'])
  return (
    <Fields>
      <NameFields of={own.fields} draft={draft} problems={fields} isNew={isNew} onChange={set} />
      {isNew && <WhereField draft={draft} onDraft={onDraft} />}
      {cloudOf(draft) ? (
        <>
          <NetworkFields
            draft={draft}
            onDraft={onDraft}
            problem={config(/^(?!config\.packages)/)}
          />
          <PackagesField draft={draft} onDraft={onDraft} problem={config(/^config\.packages/)} />
        </>
      ) : (
        <WorkerNetworkFields draft={draft} onDraft={onDraft} problem={fields['config']} />
      )}
      <DeniedField draft={draft} onDraft={onDraft} problem={fields['network']} />
      <Field
        label={own.fields.image}
        placeholder={own.imagePlaceholder}
        hint={own.imageHint}
        value={draft.base_image ?? ''}
        problem={fields['base_image']}
        onChange={(image) => set({ base_image: image === '' ? null : image })}
      />
      <VariablesField draft={draft} onDraft={onDraft} problem={fields['env']} />
    </Fields>
  )
}

/** The config has several fields: each has its own sentences of what is said of the whole. */
const sentencesOf =
  (said: string | undefined) =>
  (of: RegExp): string | undefined =>
    said
      ?.split('; ')
      .filter((sentence) => of.test(sentence))
      .join('; ') || undefined

const WhereField = ({ draft, onDraft }: DraftPartProps) => (
  <FieldGroup label={own.where} hint={own.whereHint}>
    <Choices
      label={own.where}
      choices={keysOf(own.whereChoices).map((value) => ({
        value,
        label: own.whereChoices[value],
      }))}
      value={draft.config?.type ?? 'cloud'}
      onChange={(type) =>
        onDraft({
          ...draft,
          config: type === 'cloud' ? { type, networking: { type: 'unrestricted' } } : { type },
        })
      }
    />
  </FieldGroup>
)

const closed: LimitedNetwork = { type: 'limited', allowed_hosts: [] }

function NetworkFields({ draft, onDraft, problem }: DraftPartProps) {
  const limited = limitedOf(draft)
  const set = (networking: NonNullable<ReturnType<typeof cloudOf>>['networking']) =>
    onDraft({ ...draft, config: { ...cloudOf(draft), type: 'cloud', networking } })
  return (
    <>
      <Select
        label={own.fields.network}
        hint={own.networkHint}
        choices={keysOf(own.network).map((value) => ({ value, label: own.network[value] }))}
        value={limited ? 'limited' : 'unrestricted'}
        onChange={(type) => set(type === 'limited' ? closed : { type })}
      />
      {limited && (
        <>
          <HostsField
            label={own.fields.hosts}
            hint={own.hostsHint}
            problem={problem}
            hosts={limited.allowed_hosts ?? []}
            onHosts={(allowed_hosts) => set({ ...limited, allowed_hosts })}
          />
          <Row gap="wide" isWrapped>
            <Check
              label={own.mcp}
              isOn={limited.allow_mcp_servers === true}
              onChange={(allow_mcp_servers) => set({ ...limited, allow_mcp_servers })}
            />
            <Check
              label={own.managers}
              isOn={limited.allow_package_managers === true}
              onChange={(allow_package_managers) => set({ ...limited, allow_package_managers })}
            />
          </Row>
        </>
      )}
    </>
  )
}

/** Workers take the lists beside `config`. */
function WorkerNetworkFields({ draft, onDraft, problem }: DraftPartProps) {
  const hosts = draft.network?.allowlist ?? []
  return (
    <>
      <HostsField
        label={own.fields.hosts}
        hint={hosts.length === 0 ? own.selfHostedHosts : own.hostsHint}
        problem={problem}
        hosts={hosts}
        onHosts={(allowlist) => onDraft({ ...draft, network: { ...draft.network, allowlist } })}
      />
      {hosts.length > 0 && (
        <Check
          label={own.mcp}
          isOn={draft.allow_mcp_servers === true}
          onChange={(allow_mcp_servers) => onDraft({ ...draft, allow_mcp_servers })}
        />
      )}
    </>
  )
}

const DeniedField = ({ draft, onDraft, problem }: DraftPartProps) => (
  <HostsField
    label={own.fields.denied}
    hint={own.deniedHint}
    problem={problem}
    hosts={draft.network?.denylist ?? []}
    onHosts={(denylist) => onDraft({ ...draft, network: { ...draft.network, denylist } })}
  />
)
