module fatoura.example/fatoura

go 1.24
