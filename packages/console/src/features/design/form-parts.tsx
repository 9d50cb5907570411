/** Parts of pages that change a thing: lists to make longer, the bar that saves, a secret in its command. */
import { useState } from 'react'
import { AddLine } from '../../components/add-line.tsx'
import { Field } from '../../components/field.tsx'
import { Quiet, Row } from '../../components/layout.tsx'
import { Fold } from '../../components/fold.tsx'
import { ListField } from '../../components/list-field.tsx'
import { MoreMenu } from '../../components/more-menu.tsx'
import { SaveBar } from '../../components/save-bar.tsx'
import { SecretCommand } from '../../components/secret-command.tsx'
import { Framed, Spec, Specimen } from '../../components/specimen.tsx'
import { Status } from '../../components/status.tsx'
import { UploadLine } from '../../components/upload-line.tsx'
import { YamlField } from '../../components/yaml-editor.tsx'
import type { JsonBody } from '../../lib/request/api-call.ts'
import { Button } from '../../components/button.tsx'

const nothing = () => {}
const bar = { isBusy: false, offBecause: undefined, problem: undefined }
const secret = 'stw_env_7Qm2xV9tR4bK8nW3'

export function FormParts() {
  const [hosts, setHosts] = useState(['api.example.com'])
  const [typed, setTyped] = useState('')
  const [known, setKnown] = useState<JsonBody>({ contextWindow: 200_000 })
  return (
    <Spec name="Parts of forms">
      <Specimen caption="a list: each thing can be removed, enter adds another" size="half">
        <ListField
          label="Hosts of an example"
          items={hosts.map((id) => ({ id, name: id }))}
          onRemove={(id) => setHosts(hosts.filter((host) => host !== id))}
        >
          <AddLine
            verb="Add an example"
            offBecause={typed === '' ? 'Write a name' : undefined}
            onAdd={() => setHosts([...hosts, typed])}
          >
            <Field isLabelHidden label="Name of an example" value={typed} onChange={setTyped} />
          </AddLine>
        </ListField>
      </Specimen>
      <Specimen caption="a secret in its command, and what came of it" size="half">
        <SecretCommand
          title="Start a worker of an example"
          command={`export WORKER_ENVIRONMENT_KEY=${secret}\nnpm run worker`}
          secret={secret}
          onDone={nothing}
        >
          <Status tone="queued">No worker asks for work yet</Status>
        </SecretCommand>
      </Specimen>
      <Specimen caption="save: nothing was changed" size="half">
        <Framed>
          <SaveBar {...bar} count={0} onDiscard={nothing} onSave={nothing} />
        </Framed>
      </Specimen>
      <Specimen caption="save: two fields differ" size="half">
        <Framed>
          <SaveBar {...bar} count={2} onDiscard={nothing} onSave={nothing} />
        </Framed>
      </Specimen>
      <Specimen caption="a file on its way, and one that was refused" size="half">
        <Framed>
          <UploadLine
            name="report.csv"
            fraction={0.4}
            problem={undefined}
            actions={<Button size="small">Cancel</Button>}
          />
          <UploadLine
            name="film.mov"
            fraction={1}
            problem="file: is larger than 1048576 bytes"
            actions={<Button size="small">Dismiss</Button>}
          />
        </Framed>
      </Specimen>
      <Specimen caption="written as YAML; what is no object says so" size="half">
        <YamlField label="What is known of an example" hint="YAML" body={known} onBody={setKnown} />
      </Specimen>
      <Specimen
        caption="fold: what few people need, and one that is open as something stands in it"
        size="half"
      >
        <Fold label="More settings" isOpen={false}>
          <Quiet>The headers of each request</Quiet>
        </Fold>
        <Fold label="Further settings" isOpen>
          <Quiet>x-team: its value is not shown</Quiet>
        </Fold>
      </Specimen>
      <Specimen caption="more to do" size="half">
        <Row>
          <MoreMenu items={[{ label: 'Delete the example', isDanger: true, run: nothing }]} />
        </Row>
      </Specimen>
    </Spec>
  )
}
