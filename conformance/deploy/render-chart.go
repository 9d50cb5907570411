// Renders a chart as `helm template` does, by the libraries that Helm is made of: Go's templates, sprig, and the YAML
// library of Kubernetes. Reads {"templates": {path: text}, "data": …} from stdin, and writes {path: text} to stdout.
// Stricter than Helm: a value that values.yaml does not name is an error.
package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"strings"
	"text/template"

	"github.com/Masterminds/sprig"
	"sigs.k8s.io/yaml"
)

func toYaml(value interface{}) (string, error) {
	text, err := yaml.Marshal(value)
	return strings.TrimSuffix(string(text), "\n"), err
}

func fromYaml(text string) (map[string]interface{}, error) {
	made := map[string]interface{}{}
	err := yaml.Unmarshal([]byte(text), &made)
	return made, err
}

func required(why string, value interface{}) (interface{}, error) {
	if value == nil || value == "" {
		return nil, errors.New(why)
	}
	return value, nil
}

func render() error {
	var given struct {
		Templates map[string]string
		Data      map[string]interface{}
	}
	if err := json.NewDecoder(os.Stdin).Decode(&given); err != nil {
		return err
	}
	all := template.New("chart").Option("missingkey=error")
	functions := sprig.TxtFuncMap()
	// A chart renders to the same objects everywhere and each time.
	for _, name := range []string{"env", "expandenv", "getHostByName", "now", "randAlphaNum", "uuidv4"} {
		delete(functions, name)
	}
	functions["toYaml"] = toYaml
	functions["fromYaml"] = fromYaml
	functions["required"] = required
	functions["include"] = func(name string, data interface{}) (string, error) {
		var text strings.Builder
		err := all.ExecuteTemplate(&text, name, data)
		return text.String(), err
	}
	all.Funcs(functions)
	for path, text := range given.Templates {
		if _, err := all.New(path).Parse(text); err != nil {
			return err
		}
	}
	rendered := map[string]string{}
	for path := range given.Templates {
		if strings.HasSuffix(path, ".tpl") {
			continue
		}
		var text strings.Builder
		if err := all.ExecuteTemplate(&text, path, given.Data); err != nil {
			return err
		}
		rendered[path] = text.String()
	}
	return json.NewEncoder(os.Stdout).Encode(rendered)
}

func main() {
	if err := render(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}
