import { FieldGroup, ListBox, ListLine } from '../../components/form-page.tsx'
import { SmallSelect } from '../../components/select.tsx'
import { keysOf } from '../../lib/keys-of.ts'
import type { DraftFieldProps, FormTool, ToolPolicy } from './draft.ts'
import { policyOf, withPolicy } from './draft.ts'
import { agentWords as own } from './words.ts'

export const policyChoices = keysOf(own.policy).map((value: ToolPolicy) => ({
  value,
  label: own.policy[value],
}))

/** In the order in which the form shows them. */
export const formTools: readonly FormTool[] = keysOf(own.toolNames)

/** Every built-in tool, and what a call of it does; tools of the caller's own below. */
export const ToolsField = ({ draft, onDraft, problem }: DraftFieldProps) => (
  <FieldGroup label={own.fields.tools} hint={own.toolsHint} problem={problem}>
    <ListBox>
      {formTools.map((tool) => (
        <ListLine key={tool} name={tool} about={own.toolNames[tool]}>
          <SmallSelect
            label={own.policyOf(tool)}
            choices={policyChoices}
            value={policyOf(draft, tool)}
            onChange={(policy) => onDraft(withPolicy(draft, tool, policy))}
          />
        </ListLine>
      ))}
      {draft.tools?.map((tool) =>
        tool.type === 'custom' ? (
          <ListLine key={tool.name} name={tool.name} about={own.customTool} />
        ) : null,
      )}
    </ListBox>
  </FieldGroup>
)
