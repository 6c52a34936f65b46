"""Execute a notebook in the current folder: python run_notebook.py FROM TO"""

import sys

import nbformat
from nbclient import NotebookClient

if __name__ == "__main__":
    notebook = nbformat.read(sys.argv[1], 4)
    for cell in notebook.cells:
        cell.pop("outputs", None)
        if cell.cell_type == "code":
            cell.outputs = []
    try:
        NotebookClient(notebook, timeout=240, kernel_name="python3").execute()
    finally:
        nbformat.write(notebook, sys.argv[2])
