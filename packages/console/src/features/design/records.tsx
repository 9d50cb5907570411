/** What pages of things are made of: trees, texts, the pane beside a list, small forms, files, more actions. */
import { useState } from 'react'
import { Ask } from '../../components/ask.tsx'
import { Button } from '../../components/button.tsx'
import { Field } from '../../components/field.tsx'
import { FilesField } from '../../components/files-field.tsx'
import { FormDialog } from '../../components/form-dialog.tsx'
import { Row } from '../../components/layout.tsx'
import { MoreMenu } from '../../components/more-menu.tsx'
import { PlainText } from '../../components/plain-text.tsx'
import { RecordHead } from '../../components/record-head.tsx'
import {
  FactList,
  FactRow,
  PaneLine,
  PaneLines,
  PaneSection,
  SidePane,
} from '../../components/side-pane.tsx'
import { Framed, Spec, Specimen } from '../../components/specimen.tsx'
import { Status } from '../../components/status.tsx'
import { Tree, TreeFolder, TreeLeaf, TreeNote } from '../../components/tree.tsx'

const nothing = () => {}

export function RecordParts() {
  const [isOpen, setOpen] = useState(true)
  return (
    <Spec name="Tree, text, pane, small form">
      <Specimen caption="tree: a folder opens, a leaf is chosen, a note is no row" size="half">
        <Framed>
          <Tree label="An example of a tree">
            <TreeFolder name="style" depth={0} isOpen={isOpen} onToggle={() => setOpen(!isOpen)}>
              <TreeLeaf name="naming.md" depth={1} isChosen onChoose={nothing} end="3 min" />
              <TreeLeaf name="errors.md" depth={1} isChosen={false} onChoose={nothing} />
              <TreeNote depth={1}>Nothing else is remembered here.</TreeNote>
            </TreeFolder>
          </Tree>
        </Framed>
      </Specimen>
      <Specimen caption="text of somebody: what does not show in it is named" size="half">
        <RecordHead
          title="/style/naming.md"
          about="111 bytes"
          actions={<Button size="small">Read it</Button>}
        />
        <PlainText label="An example of a text" text={'# Names\nA type is a noun.\u202e'} />
      </Specimen>
      <Specimen caption="pane: facts, and lines in which columns matter less" size="half">
        <Framed>
          <SidePane title="shop" beside={<Status tone="failed">refused</Status>} onClose={nothing}>
            <PaneSection>
              <FactList>
                <FactRow name="Goes to">https://shop.example/mcp</FactRow>
              </FactList>
            </PaneSection>
            <PaneSection title="Validated" beside="12 s">
              <PaneLines>
                <PaneLine end={<Status tone="failed">refused, 401</Status>}>
                  Ask the server
                </PaneLine>
                <PaneLine about="GET · shop.example" end="200">
                  sesn_01a2…c4e9
                </PaneLine>
              </PaneLines>
            </PaneSection>
          </SidePane>
        </Framed>
      </Specimen>
      <Specimen caption="files of the person: one, or a folder; refused" size="half">
        <FilesField label="An archive" accept=".zip" hint="With one folder" onChoose={nothing} />
        <FilesField
          isFolder
          label="A folder of files"
          problem="There is no SKILL.md in this folder"
          onChoose={nothing}
        />
      </Specimen>
      <Specimen caption="small form, question, more actions" size="half">
        <SmallForms />
      </Specimen>
    </Spec>
  )
}

function SmallForms() {
  const [open, setOpen] = useState<'form' | 'ask'>()
  const [name, setName] = useState('')
  const close = () => setOpen(undefined)
  return (
    <>
      <Row>
        <Button onClick={() => setOpen('form')}>Show a small form</Button>
        <Button onClick={() => setOpen('ask')}>Show a question</Button>
        <MoreMenu items={[{ label: 'Archive it', offBecause: 'archived', run: nothing }]} />
      </Row>
      {open === 'form' && (
        <FormDialog
          title="New vault"
          verb="Make the vault"
          isBusy={false}
          offBecause={name === '' ? 'Give the vault a name' : undefined}
          problem={undefined}
          call={{ method: 'POST', path: '/vaults', client: 'beta.vaults.create', body: { name } }}
          onSubmit={close}
          onClose={close}
        >
          <Field label="Name of the vault" value={name} onChange={setName} />
        </FormDialog>
      )}
      {open === 'ask' && (
        <Ask
          question={{
            title: 'Archive production',
            text: 'All its secrets are deleted at once.',
            verb: 'Archive the vault',
            done: 'production was archived.',
          }}
          isBusy={false}
          error={new Error('The server refused it: say so here.')}
          run={(onDone) => onDone()}
          onClose={close}
        />
      )}
    </>
  )
}
